/**
 * An email address as it is compared. A letter beyond ASCII never becomes an ASCII one: the Kelvin sign would become `k`,
 * and the address that of another person.
 */
export function foldEmail(address: string): string {
  return address.replaceAll(/./gsu, (letter) => {
    const folded = letter.toLowerCase()
    return isAscii(folded) && !isAscii(letter) ? letter : folded
  })
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)
