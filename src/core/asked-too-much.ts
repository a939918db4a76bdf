import type { AuthorId } from './platform-id.ts'

/** Somebody whose message a turn answers, as they are known now: a person by name, else an id. */
export interface QuestionAsker {
  readonly who: string
  readonly owner: boolean
}

/** Questions of one person that are open in a session at a time. */
const MOST_OF_ONE = 3
/** Those of all people but owners. */
const MOST_OF_ALL = 10

/**
 * Returns how many questions are open already where one more would be too many, so that nobody can flood those who
 * answer; undefined where it may be asked. `open` has the askers of each. Nobody uses up what is another person's, and
 * the questions of others never hinder an owner. Pure.
 */
export function askedTooMuch(
  askers: readonly QuestionAsker[],
  open: readonly (readonly QuestionAsker[])[],
): number | undefined {
  const ofOne = ({ who }: QuestionAsker): number => open.filter((those) => those.some((one) => one.who === who)).length
  const ofNobody = (): number => open.filter((those) => those.length === 0).length
  const counts = askers.length === 0 ? [ofNobody()] : askers.map(ofOne)
  if (counts.every((count) => count >= MOST_OF_ONE)) return MOST_OF_ONE
  const isOwners = (those: readonly QuestionAsker[]): boolean => those.some(({ owner }) => owner)
  const ofOthers = open.filter((those) => !isOwners(those)).length
  return !isOwners(askers) && ofOthers >= MOST_OF_ALL ? MOST_OF_ALL : undefined
}

/** Returns the askers of several messages, each once. */
export function askersAmong(
  authors: readonly AuthorId[],
  whoIs: (author: AuthorId) => { readonly person?: string; readonly role: string },
): readonly QuestionAsker[] {
  const askers = authors.map((author): QuestionAsker => {
    const { person, role } = whoIs(author)
    return { who: person ?? author, owner: role === 'owner' }
  })
  return [...new Map(askers.map((asker) => [asker.who, asker])).values()]
}
