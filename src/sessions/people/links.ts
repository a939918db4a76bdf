import type { Address } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import { type Clock, type Moment, momentOf, passedSince } from '../../core/clock.ts'
import type { CommandCall } from '../../core/command.ts'
import type { Identity } from '../../core/dispatch.ts'
import { isDoneBefore, markDone } from '../../core/done-before.ts'
import { ParleyError } from '../../core/errors.ts'
import { failpoint } from '../../core/failpoint.ts'
import type { IdSource, InboxId, PersonId, TraceId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { OutboundMessage } from '../../core/outbound.ts'
import { platformIdOf } from '../../core/platform-id.ts'
import type { LinkCode } from '../../store/people-port.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { CODE_BYTES, foldCode, formatCode, hashCode } from './link-code.ts'
import type { PostNotice } from './post-notice.ts'
import type { ValidCode } from './shown-codes.ts'

/** Joins ids of one human on several platforms, and separates them again. Every change is one commit and on record. */
export interface Links {
  /** Returns a new code for the person who asks; their earlier ones stop working. */
  offer(asker: Asker, person: PersonId): Promise<string>
  /**
   * Joins the asker to the person whose code it is, and notifies the chat where the code was made. Returns the person;
   * safe to repeat for one command. Throws `forbidden` for a code that is wrong, used, too old or withdrawn, and
   * `conflict` for an id that is somebody's already, which also ends the code: whoever typed it was not meant to know
   * it.
   */
  redeem(asker: Asker & Errand, typed: string): Promise<PersonId>
  /** Returns the codes that may be redeemed now: those made since the start, at most one for each id. */
  validCodes(): readonly ValidCode[]
  /**
   * Makes a code that was shown worthless (F-H12); whoever asked for it is notified where it was made. Resolves when
   * that is stored, and never rejects.
   */
  spoil(typed: string): Promise<void>
  /** Joins an id without a code, for the operator. Throws `conflict` as `redeem` does. */
  link(platformId: string, person: PersonId, by: string): Promise<void>
  /**
   * Separates an id from its person and returns the person. Throws `not_found` for an id that nobody linked. The
   * `request` is known afterwards as one that has done it.
   */
  unlink(platformId: string, by: string, request?: string): Promise<PersonId>
  hasUnlinked(request: string): Promise<boolean>
}

/** The person who asks, and the address for the answer. */
export interface Asker {
  readonly platformId: string
  readonly address: Address
}

/** The command by which somebody asks. */
interface Errand {
  readonly inboxId: InboxId
  readonly traceId: TraceId
}

export interface LinkDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly say: PostNotice
  readonly logger: Logger
  randomBytes(count: number): Uint8Array
  /** Returns the present identity of a platform id: the configuration first, then the store. */
  whoIs(platformId: string): Identity
  /** Called when the people of the store have changed. */
  refresh(): Promise<void>
}

/** The time for which a code can be used (F-H12). */
const VALID_MS = 10 * 60_000

export function askerOf(channels: Channels, { dispatch: { event } }: CommandCall): Asker {
  return { platformId: platformIdOf(channels, event.address.channel, event.sender), address: event.address }
}

export function createLinks(deps: LinkDeps): Links {
  const { store, clock, say, refresh } = deps
  const offered = new Offered(clock)

  async function join(tx: StoreWriter, person: PersonId, platformId: string, by: string): Promise<void> {
    const at = clock.now()
    await tx.people.join(person, platformId, at)
    await tx.people.recordChange({ at, kind: 'linked', person, platformId, by })
  }

  async function take(code: LinkCode, asker: Asker & Errand): Promise<void> {
    const { platformId, inboxId } = asker
    await say(joinedNotice(code, asker, deps.ids), async (tx) => {
      if (!(await tx.people.useLinkCode(code.hash, inboxId))) throw notValid()
      await join(tx, code.person, platformId, code.maker)
      return true
    })
    failpoint('CP19-ids-linked')
    await refresh()
  }

  async function spoil(typed: string): Promise<void> {
    const code = offered.take(typed)
    if (!code) return
    const withdraw = (tx: StoreWriter): Promise<boolean> => tx.people.withdrawLinkCode(code.hash).then(() => true)
    await say(spoiledNotice(code, deps.ids), withdraw).catch((err: unknown) =>
      deps.logger.warn('The person who asked for a code that was shown could not be notified', { err }),
    )
  }

  return {
    async offer({ platformId, address }, person) {
      const code = formatCode(deps.randomBytes(CODE_BYTES))
      const at = clock.now()
      const row = { hash: hashCode(code), person, maker: platformId, shownAt: address, expiresAt: at + VALID_MS }
      await store.write((tx) => tx.people.addLinkCode(row, at))
      offered.add(code, row)
      return code
    },
    async redeem(asker, typed) {
      const code = await store.read.people.linkCode(hashCode(typed))
      const verdict = judge(code, asker, { ...deps, offered: offered.has(typed) })
      if (verdict.kind === 'done') return verdict.person
      if (verdict.kind === 'refused') {
        if (!code || !verdict.spoils) throw verdict.error
        offered.take(typed)
        await store.write((tx) => tx.people.withdrawLinkCode(code.hash))
        throw verdict.error
      }
      await take(verdict.code, asker)
      offered.take(typed)
      return verdict.code.person
    },
    spoil,
    validCodes: () => offered.all().map((folded) => ({ folded, commands: ['link'], burn: () => void spoil(folded) })),
    async link(platformId, person, by) {
      await store.write((tx) => join(tx, person, platformId, by))
      await refresh()
    },
    hasUnlinked: (request) => store.write((tx) => isDoneBefore(tx, request)),
    async unlink(platformId, by, request) {
      const at = clock.now()
      const person = await store.write(async (tx) => {
        const person = await tx.people.unlink(platformId)
        if (person) await tx.people.recordChange({ at, kind: 'unlinked', person, platformId, by })
        if (person && request !== undefined) await markDone(tx, request, at)
        return person
      })
      offered.forgetOf(platformId)
      await refresh()
      if (!person) throw notLinked(platformId)
      return person
    },
  }
}

/**
 * The codes made since the start, by their folded form. Only these are redeemed: nobody knows whether the code of an
 * earlier process was shown.
 */
class Offered {
  readonly #clock: Clock
  readonly #codes = new Map<string, LinkCode & { readonly offered: Moment }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds a code; the earlier ones of its maker stop working. */
  add(typed: string, code: LinkCode): void {
    this.forgetOf(code.maker)
    this.#codes.set(foldCode(typed), { ...code, offered: momentOf(this.#clock) })
  }

  has(typed: string): boolean {
    return this.all().includes(foldCode(typed))
  }

  take(typed: string): LinkCode | undefined {
    const code = this.#codes.get(foldCode(typed))
    this.#codes.delete(foldCode(typed))
    return code
  }

  forgetOf(maker: string): void {
    for (const [folded, code] of this.#codes) if (code.maker === maker) this.#codes.delete(folded)
  }

  /** Returns the codes that are not too old by either clock: a clock that is set back prolongs none. */
  all(): readonly string[] {
    if (this.#codes.size === 0) return NONE
    for (const [folded, { offered }] of this.#codes)
      if (passedSince(this.#clock, offered) >= VALID_MS) this.#codes.delete(folded)
    return [...this.#codes.keys()]
  }
}

const NONE: readonly string[] = []

type Verdict =
  | { readonly kind: 'take'; readonly code: LinkCode }
  /** The same command has redeemed the code before. */
  | { readonly kind: 'done'; readonly person: PersonId }
  | { readonly kind: 'refused'; readonly error: ParleyError; readonly spoils: boolean }

/** Returns the present worth of a typed code to the person who typed it. */
function judge(
  code: LinkCode | undefined,
  asker: Asker & Errand,
  { whoIs, offered }: Pick<LinkDeps, 'whoIs'> & { readonly offered: boolean },
): Verdict {
  const refused = (error: ParleyError, spoils = false): Verdict => ({ kind: 'refused', error, spoils })
  if (code?.usedBy === asker.inboxId) return { kind: 'done', person: code.person }
  if (!code || !offered || code.usedBy !== undefined) return refused(notValid())
  if (whoIs(code.maker).person !== code.person) return refused(notValid(), true)
  const { person } = whoIs(asker.platformId)
  if (person === code.person) {
    return refused(new ParleyError('conflict', 'Type it on the other platform: here I know you already.'))
  }
  if (person !== undefined) {
    const message = `\`${asker.platformId}\` is ${person} to me already. \`/unlink\` parts an id that was linked.`
    return refused(new ParleyError('conflict', message), true)
  }
  if (channelOf(code.maker) === channelOf(asker.platformId)) {
    const message = 'A code works on another platform than the one it was made on. Send me `/link` again for a new one.'
    return refused(new ParleyError('forbidden', message), true)
  }
  return { kind: 'take', code }
}

function channelOf(platformId: string): string {
  return platformId.slice(0, platformId.indexOf(':'))
}

function notLinked(platformId: string): ParleyError {
  return new ParleyError(
    'not_found',
    `Nobody has linked \`${platformId}\`; ids of the configuration are changed there.`,
  )
}

function notValid(): ParleyError {
  return new ParleyError(
    'forbidden',
    'That code is not valid. A code works once and for ten minutes; send me `/link` where I know you for a new one.',
  )
}

function spoiledNotice({ shownAt }: LinkCode, ids: IdSource): OutboundMessage {
  const text =
    'The code I gave you was shown where it does not belong, so it is worth nothing now. Send me `/link` for a new one.'
  return { source: ids.notice(), traceId: ids.trace(), address: shownAt, class: 'control', text }
}

/** Returns the notice to the code's maker, so that nobody is joined to another person unnoticed. */
function joinedNotice(
  { shownAt, person }: LinkCode,
  { platformId, traceId }: Asker & Errand,
  ids: IdSource,
): OutboundMessage {
  return {
    source: ids.notice(),
    traceId,
    address: shownAt,
    class: 'control',
    text: `\`${platformId}\` is ${person} to me now. If that is not you, send me \`/unlink ${platformId}\`.`,
  }
}
