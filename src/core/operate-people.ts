import type { AdmissionReport } from './operate-admissions.ts'

/** The part of `OperatorService` about identities, apart only for its size. */
export interface PeopleOperator {
  list(): Promise<PeopleReport>
  /**
   * Joins an id, written `<channel>:<id>`, to a person by name. `conflict` for an id that is somebody's; `not_found`
   * for nobody of that name.
   */
  link(person: string, platformId: string): Promise<LinkedId>
  /** Parts it again. `not_found` for one that nobody linked. */
  unlink(platformId: string): Promise<LinkedId>
}

export interface LinkedId {
  readonly person: string
  readonly id: string
}

export interface PeopleReport {
  readonly people: readonly PersonReport[]
  /** The people and places that owners let in, newest first. */
  readonly letIn: readonly LetInReport[]
  /** The joins and partings of people, newest first. */
  readonly changes: readonly IdentityChangeReport[]
}

export interface PersonReport {
  readonly name: string
  readonly role: string
  readonly ids: readonly {
    readonly id: string
    /** `claim`: it became the owner by the claim code. */
    readonly from: 'configuration' | 'link' | 'claim'
    /** The person the configuration gives it to instead, which wins. */
    readonly overruledBy?: string
  }[]
}

/** Somebody in direct chats, or a group with all its topics. */
export interface LetInReport extends Pick<AdmissionReport, 'kind' | 'key' | 'name'> {
  readonly at: number
  readonly by: string
}

export interface IdentityChangeReport {
  readonly at: number
  readonly kind: 'claimed' | 'linked' | 'unlinked'
  readonly person: string
  readonly id: string
  readonly by: string
}
