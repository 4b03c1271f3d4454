/** Logo of the product. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <path
        d="M8 10h6a4 4 0 0 1 4 4v4a4 4 0 0 0 4 4h2M8 22h6a4 4 0 0 0 4-4v-4a4 4 0 0 1 4-4h2"
        fill="none"
        stroke="var(--on-accent)"
        stroke-width="2.600"
        stroke-linecap="round"
      />
    </svg>
  )
}
