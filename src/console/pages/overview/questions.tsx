import { openQuestions, questionHref, summaryOf } from "../../state/questions.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { TimeLeft } from "../../ui/time-left.tsx"

/** Open questions of interns, the one that ends first on top. */
export function Questions() {
  const questions = openQuestions.value.toSorted((a, b) => Date.parse(a.deadline) - Date.parse(b.deadline))
  if (questions.length === 0) return null
  return (
    <section class="stack tight" aria-label="Open questions">
      <h2>
        {questions.length === 1 ? "An intern waits for an answer" : `${questions.length} questions wait for an answer`}
      </h2>
      <ul class="open-questions">
        {questions.map((question) => (
          <li key={question.id}>
            <Chip kind="intern" id={question.intern.id} label={question.intern.name} />
            <code class="truncate grow">{summaryOf(question)}</code>
            <TimeLeft deadline={Date.parse(question.deadline)} />
            <Button size="small" kind="primary" href={questionHref(question)}>
              Answer
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
