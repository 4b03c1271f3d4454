/** Ranges of Latin, Greek and Cyrillic letters: the classes of Unicode have hundreds, which takes long to compile. */
export const CAPITAL = "[A-ZÀ-ÖØ-ÞĀ-ŽǍ-ǜȘ-țΆ-ΫЀ-ЯҐƏƠƯẠ-Ỹ]"
export const LETTERS = "A-Za-zÀ-ÖØ-öø-ɏΆ-ώЀ-ӿəẠ-ỹ"
