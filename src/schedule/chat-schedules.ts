import { formatAddress } from '../core/address.ts'
import type { ChatSchedule, ChatSchedules, ScheduleAsker, ScheduleWish } from '../core/chat-schedules.ts'
import type { Clock } from '../core/clock.ts'
import { type Identity, isStill } from '../core/dispatch.ts'
import { isDoneBefore, markDone } from '../core/done-before.ts'
import { ParleyError } from '../core/errors.ts'
import { refuseForgotten } from '../core/forgetting.ts'
import { type PersonId, type ScheduleId, toScheduleId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { type AuthorId, NOBODY, personAuthor } from '../core/platform-id.ts'
import { idOfRequest, type NewSchedule, requestOf, type Schedule } from '../core/schedule.ts'
import type { ScheduleReader } from '../store/schedule-port.ts'
import type { Store } from '../store/store.ts'
import { letGo } from './let-go.ts'

export interface ChatScheduleDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  /** Returns the zone of a person, by its IANA name. */
  zoneOf(person: PersonId): string
  /** Returns who an author is now. */
  identityOf(author: AuthorId): Promise<Identity>
  readonly askerOf: ChatSchedules['askerOf']
  /** Called once a schedule was added or removed. */
  changed(): Promise<void>
}

/** Schedules of one person that are kept at a time. */
const MOST_OF_ONE = 50

/** Returns the schedules that people make in chats; their calendar is loaded with the first of them. */
export function createChatSchedules(deps: ChatScheduleDeps): ChatSchedules {
  const { store, clock, logger, askerOf } = deps
  return {
    askerOf,
    create: (wish, asker, key) => create(deps, { wish, asker, key }),
    async list(asker) {
      const here = (await store.read.schedules.all()).filter((one) => isFor(one, asker))
      const shown = await Promise.all(here.map((one) => shownTo(one, clock.now())))
      // A schedule for one time has no next one while it is due; its row stays until its run has ended.
      const due = shown.filter(({ nextAt }) => nextAt < NEVER)
      return due.toSorted((a, b) => a.nextAt - b.nextAt).map(({ nextAt: _nextAt, ...one }) => one)
    },
    async cancel(id, asker, key) {
      const isGone = (await store.read.schedules.get(idOf(id))) === undefined
      if (isGone && (await store.write((tx) => isDoneBefore(tx, key)))) return undefined
      const found = await named(deps, id, asker)
      const others = await Promise.all(asker.authors.map((author) => mayNotCancel(deps, author, found.creator)))
      if (others.includes(true))
        throw new ParleyError('forbidden', `Only ${found.creator} or an owner cancels that: /remind cancel ${found.id}`)
      await store.write(async (tx) => {
        await tx.schedules.remove(found.id)
        await letGo(tx, found.id, { outcome: 'cancelled', at: clock.now() })
        await markDone(tx, key, clock.now())
      })
      logger.info('A schedule was cancelled', { schedule: found.id, by: asker.person })
      await deps.changed()
      const { nextAt: _nextAt, ...shown } = await shownTo(found, clock.now())
      return isFor(found, asker) ? shown : { ...shown, text: ELSEWHERE, authors: [] }
    },
  }
}

/** Shown in the place of a text that people would read along who may not see it. */
const ELSEWHERE = 'that of another conversation'

interface Request {
  readonly wish: ScheduleWish
  readonly asker: ScheduleAsker
  readonly key: string
}

type Wished = Pick<Request, 'wish' | 'asker'> & { readonly request: string }

async function create(deps: ChatScheduleDeps, { wish, asker, key }: Request): Promise<ChatSchedule> {
  const { store, clock, logger } = deps
  const request = requestOf(key)
  const known = await madeFor(store.read.schedules, request)
  const { made, isNew } = known ? { made: known, isNew: false } : await add(deps, { wish, asker, request })
  if (isNew) {
    logger.info('A schedule was made in a chat', { schedule: made.id, by: asker.person })
    await deps.changed()
  }
  const { nextAt: _nextAt, ...shown } = await shownTo(made, Math.min(asker.at, clock.now()))
  return shown
}

function* idsOf(request: string): Generator<ScheduleId> {
  for (let no = 0; ; no++) yield idOfRequest(request, no)
}

async function madeFor(schedules: ScheduleReader, request: string): Promise<Schedule | undefined> {
  for (const id of idsOf(request)) {
    const found = await schedules.get(id)
    if (found === undefined || found.definition.request === request) return found
  }
  return undefined
}

async function freeId(schedules: ScheduleReader, request: string): Promise<ScheduleId> {
  for (const id of idsOf(request))
    if (!(await schedules.get(id)) && (await schedules.recent(id, 1)).length === 0) return id
  throw new ParleyError('internal', 'There is no free id.')
}

/** Throws `invalid` in words for whoever asks. */
async function wished(
  { zoneOf }: ChatScheduleDeps,
  { wish, asker, request }: Wished,
): Promise<Omit<NewSchedule, 'id'>> {
  const { readWish } = await import('./read-wish.ts')
  const { person, address, reader, agent, session, authors, askers, writtenIn, at } = asker
  const timing = readWish(wish, { at, home: zoneOf(person) })
  return {
    ...{ source: 'command', creator: person },
    definition: {
      ...timing,
      ...{ agent, prompt: wish.text.trim(), deliverTo: address, authors, request },
      ...(wish.task ? {} : { said: true }),
      ...(reader ? { reader } : {}),
      ...(askers ? { askers } : {}),
      ...(session ? { madeIn: session } : {}),
      ...(writtenIn ? { addresses: await writtenIn(wish.text) } : {}),
      // A reminder that was missed is owed; of several of one schedule the newest stands for all.
      ...{ missed: { kind: 'once' }, overlap: 'skip' },
    },
  }
}

/**
 * Stores a schedule once for each request: a command that runs again after a crash makes no second one, also if the
 * first was cancelled meanwhile.
 */
async function add(
  deps: ChatScheduleDeps,
  wanted: Wished,
): Promise<{ readonly made: NewSchedule; readonly isNew: boolean }> {
  const { store, clock } = deps
  const { asker, request } = wanted
  const draft = await wished(deps, wanted)
  return store.write(async (tx) => {
    await refuseForgotten(tx, asker.turn)
    const made = { ...draft, id: await freeId(tx.schedules, request) }
    if (!(await tx.notices.once(`schedule:${request}`, clock.now(), FOR_EVER_MS))) return { made, isNew: false }
    const own = (await tx.schedules.all()).filter(({ creator }) => creator === asker.person)
    if (own.length >= MOST_OF_ONE)
      throw new ParleyError('conflict', `You have ${MOST_OF_ONE} already; cancel one first: /remind list`)
    // Slots are owed from the request on, not from this commit: a crash can lie between the two.
    await tx.schedules.put(made, clock.now(), Math.min(asker.at, clock.now()))
    return { made, isNew: true }
  })
}

const FOR_EVER_MS = Number.MAX_SAFE_INTEGER

type Made = Pick<Schedule, 'id' | 'definition' | 'creator'>
type Shown = ChatSchedule & { readonly nextAt: number }

async function shownTo({ id, definition, creator }: Made, now: number): Promise<Shown> {
  const [{ whenInWords }, { nextSlot }] = await Promise.all([import('./when-words.ts'), import('./slots.ts')])
  const { prompt: text, said } = definition
  const nextAt = nextSlot(definition, now) ?? NEVER
  const when = whenInWords(definition, now)
  return { id, text, task: !said, creator: creator ?? NO_PERSON, authors: authorsOf(definition, creator), when, nextAt }
}

/** Names the maker, and of a text that a turn wrote down everybody whose words the turn was shown. */
function authorsOf({ authors = [NOBODY] }: Made['definition'], creator: PersonId | undefined): readonly AuthorId[] {
  return [...new Set([...(creator === undefined ? [] : [personAuthor(creator)]), ...authors])]
}

const NO_PERSON = '' as PersonId
const NEVER = Number.MAX_SAFE_INTEGER

/** Returns true for a schedule of the place, and for one that is for the asker alone where nobody reads along. */
function isFor(
  { source, definition }: Schedule,
  { person, role, address, overheard }: Pick<ScheduleAsker, 'person' | 'role' | 'address' | 'overheard'>,
): boolean {
  const { deliverTo, reader } = definition
  if (source !== 'command' || formatAddress(deliverTo) !== formatAddress(address)) return false
  return reader === undefined || (isStill(reader.person, { person, role }) && !overheard)
}

/** People may name what they have made from everywhere, an owner whatever was made, anybody else what is here. */
async function named(
  { store }: ChatScheduleDeps,
  name: string,
  asker: ScheduleAsker,
): Promise<Schedule & { readonly creator: PersonId }> {
  const found = await store.read.schedules.get(idOf(name))
  const { creator } = found ?? {}
  const seen = found && (creator === asker.person || asker.role === 'owner' || isFor(found, asker))
  if (found?.source === 'command' && seen && creator !== undefined) return { ...found, creator }
  throw new ParleyError('not_found', `There is no reminder ${name} here; /remind list shows them.`)
}

function idOf(name: string): ScheduleId {
  return toScheduleId(name.trim().replace(/`/g, '').toLowerCase())
}

async function mayNotCancel({ identityOf }: ChatScheduleDeps, author: AuthorId, creator: PersonId): Promise<boolean> {
  const { person, role } = await identityOf(author)
  return role !== 'owner' && person !== creator
}
