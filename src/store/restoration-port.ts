import type { DeliveryId } from '../core/ids.ts'

/** A moment at which the database was found to be an older copy of itself (decision 0013). */
export interface Restoration {
  readonly at: number
  /** When the copy was written last. */
  readonly lastAt: number
  /** `found`: nothing was held back yet. `held`: an owner has to choose. The others: what an owner chose. */
  readonly state: RestorationState
}

export type RestorationState = 'found' | 'held' | 'resumed' | 'discarded'

export interface RestorationReader {
  /** Returns the newest. */
  latest(): Promise<Restoration | undefined>
  /** Returns how many deliveries are held. */
  held(): Promise<number>
}

export interface RestorationWriter {
  /** Holds back every delivery that still owes something; the newest restoration is `held` from then on. */
  hold(): Promise<void>
  /**
   * Lets go of what is held and returns it; the newest restoration is `resumed`. Throws `conflict` if it is not `held`.
   */
  resume(): Promise<readonly DeliveryId[]>
  /**
   * Ends what is held as `expired` with this reason, and returns how many; the newest restoration is `discarded`.
   * Throws `conflict` if it is not `held`.
   */
  discard(reason: string): Promise<number>
}
