import type { SessionPlan } from '../../core/forgetting.ts'
import type { MediaId } from '../../core/ids.ts'
import type { OwnTexts } from './own-quotes.ts'

/** The rest of what the plan of a session is made of, which is known once all is read. */
export interface PlanOf {
  /** The names of our messages that go. */
  readonly own: OwnTexts
  /** The names of texts that were said in a chat that goes. */
  readonly posts: ReadonlySet<string>
  /** The titles that were given with commands that go. */
  readonly titles: ReadonlySet<string>
  /** The names of its place go, of which nothing else may be left. */
  readonly isUnnamed: boolean
  /** Memories go as well. */
  readonly entry: boolean
}

/** The part of a plan for one session, with the files that it names. */
export type ScanPlan = SessionPlan & { readonly media: readonly MediaId[] }

interface Naming extends Pick<PlanOf, 'isUnnamed'> {
  /** Its title was given with a command that goes. */
  readonly titled: boolean
  /** Its description is of nothing that goes. */
  readonly stays: boolean
}

/** Returns how much less of a session lists show from then on. */
export function shownLess({ isUnnamed, titled, stays }: Naming): NonNullable<SessionPlan['unnamed']> {
  if (isUnnamed) return 'all'
  return stays && !titled ? 'preview' : 'description'
}
