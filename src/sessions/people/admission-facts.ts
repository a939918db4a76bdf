import { LRUCache } from 'lru-cache'
import type { Admission, AdmissionFact } from '../../core/admission.ts'
import type { StoreReader } from '../../store/store.ts'
import { MOST_ASKING } from './record-refusal.ts'

/**
 * The people and places an owner decided about, and those who asked, in memory; no more of the latter than the store
 * keeps.
 */
export interface AdmissionFacts {
  /** Returns what is known of a key; must not depend on `this`. */
  readonly fact: (key: string) => AdmissionFact | undefined
  /** Called when somebody asks, before that is stored. */
  asked(key: string): void
  /** Called after the commit in which an owner decided. */
  decided(key: string, fact: AdmissionFact): void
  /** Reads all rows again: called after a chat has moved, where many change at once (decision 0017). */
  reload(): Promise<void>
}

const ASKED: AdmissionFact = { state: 'asked' }
/** The store keeps this many: those an owner was notified of, and the others. */
const MOST_KNOWN = 2 * MOST_ASKING

export async function loadAdmissionFacts(read: Pick<StoreReader, 'admissions'>): Promise<AdmissionFacts> {
  const decided = new Map<string, AdmissionFact>()
  /** An applicant who is dropped here, or forgotten by the store, is known again with the next message. */
  const asking = new LRUCache<string, true>({ max: MOST_KNOWN })

  function asked(key: string): void {
    asking.set(key, true)
  }

  async function reload(): Promise<void> {
    const all = await read.admissions.all()
    decided.clear()
    asking.clear()
    for (const admission of all.toReversed()) {
      const fact = factOf(admission)
      if (fact.state === 'asked') asked(admission.key)
      else decided.set(admission.key, fact)
    }
  }

  await reload()
  return {
    fact: (key) => decided.get(key) ?? (asking.has(key) ? ASKED : undefined),
    asked,
    decided(key, fact) {
      asking.delete(key)
      decided.set(key, fact)
    },
    reload,
  }
}

function factOf({ state, decidedBy = 'an owner', decidedAt = 0 }: Admission): AdmissionFact {
  return state === 'admitted' ? { state, by: decidedBy, at: decidedAt } : { state }
}
