import type { Address } from '../core/address.ts'
import type { Admission, Applicant } from '../core/admission.ts'
import type { InboxId } from '../core/ids.ts'

/** The part of the store port about applicants and owners' decisions, apart only for its size. */
export interface AdmissionReader {
  /** Newest first. */
  all(): Promise<readonly Admission[]>
  /** By its key or its code. */
  find(name: string): Promise<Admission | undefined>
  /** Those who asked and of whom no owner was notified: the oldest `limit` of them, oldest first. */
  unnotified(limit: number): Promise<readonly Admission[]>
  /** Messages that were refused since `since` and wait for the admission: the newest `limit` of them, oldest first. */
  refusals(key: string, since: number, limit: number): Promise<readonly InboxId[]>
  /** Admitted, and refusals are left: their handling was cut short. */
  unhandled(): Promise<readonly string[]>
}

/** Bounds of what is kept while one admission waits: since when, how many of the newest messages, how many bytes. */
export interface RefusalBounds {
  readonly since: number
  readonly messages: number
  readonly bytes: number
}

export interface AdmissionWriter {
  /** Does nothing if it has asked before, or if another has its code. */
  ask(
    applicant: Applicant & Pick<Admission, 'code' | 'name' | 'address' | 'traceId'>,
    at: number,
  ): Promise<'added' | 'known' | 'code_taken'>
  /** Some of those who asked and are undecided beyond the newest `most`, of whom an owner was or was not notified. */
  beyond(which: 'notified' | 'unnotified', most: number): Promise<readonly string[]>
  /** Some of those who asked before this time, or of whom an owner was notified before it, and are undecided. */
  before(which: 'notified' | 'unnotified', at: number): Promise<readonly string[]>
  /** Removes one that asked and is undecided, with its list of messages. */
  withdraw(key: string): Promise<void>
  notified(key: string, at: number): Promise<void>
  decide(
    key: string,
    decision: { readonly state: 'admitted' | 'denied'; readonly by: string },
    at: number,
  ): Promise<void>
  /** Adds a refused message that is handled once the applicant is let in. Returns those that are not kept any more. */
  refuse(
    key: string,
    message: { readonly inbox: InboxId; readonly at: number; readonly bytes: number },
    bounds: RefusalBounds,
  ): Promise<readonly InboxId[]>
  /**
   * A place has a new id: it takes the admission along, over one of the new id that was asked for meanwhile. Where both
   * were decided, the later decision stands.
   */
  rekey(from: string, to: string, address: Address): Promise<void>
  /** They are handled, or not wanted any more: this one and what came before it; all without one. */
  forget(key: string, upTo?: InboxId): Promise<void>
}
