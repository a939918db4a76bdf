import type { Logger } from '../../../src/core/logger.ts'
import type { Session, SessionDraft } from '../../../src/core/session.ts'
import type { Store, StoreWriter } from '../../../src/store/store.ts'
import { sessionDraft } from '../../store/sample-rows.ts'

/** One empty database of the engine under test. */
export interface ContractDatabase {
  /** Opens the store on it, again and again. */
  open(logger: Logger): Promise<Store>
  /** Runs a statement on the closed database, past the store: how a damaged row is made. */
  execute(statement: string): Promise<void>
  remove(): Promise<void>
}

/** What each part of the suite works with; valid inside a test. */
export interface StoreUnderTest {
  readonly store: Store
  /** Everything logged as a warning since the test began. */
  readonly warnings: readonly { readonly sentence: string; readonly fields: Readonly<Record<string, unknown>> }[]
  /** Closes the store, lets something happen to the database, and opens it again. */
  reopen(meanwhile?: string): Promise<Store>
}

export type ContractPart = (underTest: StoreUnderTest) => void

export function makeSession(store: Store, chat: number, changes: Partial<SessionDraft> = {}): Promise<Session> {
  return store.write((tx) => tx.sessions.create(sessionDraft(chat, changes), 1_000))
}

/** Resolves with what `body` was rejected with; fails if it was not. */
export async function rejection(store: Store, body: (tx: StoreWriter) => Promise<unknown>): Promise<unknown> {
  return failureOf(store.write(body))
}

export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** What is JSON, and nothing that this store has written in a column. */
export const WRONG_JSON: readonly string[] = ['null', '[]', '{}', '5', '"hello"', '{"type":"odd"}', '{"__proto__":{}}']
