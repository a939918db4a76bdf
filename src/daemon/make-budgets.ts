import { hasBudgets, presentBudgets } from '../budgets/applying.ts'
import { type BudgetGate, createBudgetGate } from '../budgets/budget-gate.ts'
import { type ChargedFor, chargeFor } from '../budgets/charge.ts'
import { createBudgetDesk } from '../budgets/desk.ts'
import { payForAudio } from '../budgets/paid-audio.ts'
import type { Config } from '../config/config.ts'
import { type Address, addressNamed } from '../core/address.ts'
import type { Audio } from '../core/audio.ts'
import type { BudgetConfig, BudgetSettings, Charge, Payer, PayerBudget } from '../core/budget.ts'
import { type Channels, OWN_CHANNELS } from '../core/channel-traits.ts'
import type { Clock } from '../core/clock.ts'
import type { CommandCall } from '../core/command.ts'
import type { Decision } from '../core/dispatch.ts'
import type { UserMessageData } from '../core/event.ts'
import type { SessionId, TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { machineZone } from '../core/machine-zone.ts'
import type { BudgetDesk } from '../core/operate-budgets.ts'
import type { OutboundMessage } from '../core/outbound.ts'
import { NOBODY, platformIdOf } from '../core/platform-id.ts'
import { isScheduled, type Session, type SessionIdentity } from '../core/session.ts'
import { identityOfAuthor } from '../sessions/people/author-identity.ts'
import { addressOf } from '../sessions/service/address-of.ts'
import { type Payers, payersOf } from '../sessions/turns/payers.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { askedElsewhere, priorityOf } from '../sessions/turns/turn-reply.ts'
import type { InboxRow } from '../store/inbox-port.ts'
import type { Store, StoreReader } from '../store/store.ts'
import type { DaemonEvents } from './daemon-events.ts'
import type { Lookups } from './lookups.ts'
import { countBeside } from './spent-beside.ts'

export interface BudgetDeps {
  readonly config: Pick<Config, 'budgets' | 'audio' | 'session'>
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly lookups: Pick<Lookups, 'whoIs' | 'roleOf' | 'moves' | 'overrides'>
  readonly events: Pick<DaemonEvents, 'budget'>
  readonly channels: Channels
}

/** Words that are answered outside of any turn. */
type AskedOnce = Pick<CommandCall, 'dispatch'> & { readonly decision: Extract<Decision, { kind: 'control' | 'run' }> }

/** The budgets, as other parts of the daemon use them. */
export interface Budgets {
  readonly settings: BudgetSettings
  readonly gate: BudgetGate
  readonly desk: BudgetDesk<CommandCall>
  /**
   * Returns what the calls of a turn are charged to; undefined where no budget applies. Looked up once a turn, and anew
   * whenever somebody has joined it.
   */
  ofTurn(this: void, turn: StartedTurn, joined?: 'joined'): Promise<Charge | undefined>
  /** Returns what a recording is charged to: its sender, whoever else has asked in the turn that has it transcribed. */
  ofRecording(this: void, turn: StartedTurn, message: Said): Promise<Charge | undefined>
  /** Returns the place that a charge is for, where somebody waits for the answer. */
  placeOf(this: void, charge: Charge): NoticePlace | undefined
  /** Returns what a call that no turn bounds is charged to: a summary, a checkpoint. */
  ofSession(this: void, session: SessionId): Promise<Charge | undefined>
  /** Returns what the calls for a command, or for words that no turn answers, are charged to. */
  ofCommand(this: void, call: AskedOnce): Charge | undefined
}

/** Returns the budgets; undefined where none is configured. What a dead process has left is counted first. */
export async function makeBudgets(deps: BudgetDeps): Promise<Budgets | undefined> {
  const { config, store, clock, logger, events, channels, lookups } = deps
  if (config.budgets === undefined) return undefined
  const settings = withZone(config.budgets)
  const gate = createBudgetGate({
    ...{ store, clock, settings },
    past: (budget, charge) => events.budget.emit({ kind: 'past', budget, charge }),
    stopped: (budget, charge) => events.budget.emit({ kind: 'stopped', budget, charge }),
    notTaken: (err) => logger.warn('The cost of a call is not on record yet: the store did not take it', { err }),
  })
  const left = await gate.recover()
  if (left > 0) logger.info('Calls that a dead process left are counted at what they may have cost', { calls: left })
  const ofCommand: Budgets['ofCommand'] = ({ dispatch, decision }) =>
    chargeFor(presentBudgets(settings, lookups.moves.all), {
      address: dispatch.reply.address,
      ...payersOf(channels, [{ dispatch, decision }]),
    })
  const places = new WeakMap<Charge, NoticePlace>()
  const known = new WeakMap<StartedTurn, Promise<Charge | undefined>>()
  // Without a budget but that of strangers, nobody else's turn is looked at.
  const onlyStrangers = (['total', 'chat', 'topic', 'person', 'schedule'] as const).every(
    (kind) => !hasBudgets(settings, kind),
  )
  return {
    ...{ settings, gate, ofCommand, desk: createBudgetDesk({ store, clock, settings, chargeOf: ofCommand }) },
    async ofTurn(turn, joined) {
      const free = onlyStrangers && !turn.forStrangers && turn.session.source.kind === 'channel'
      if (free && capOf(deps, turn.session) === undefined) return undefined
      const before = known.get(turn)
      const looked = before && !joined ? before : chargeOfTurn(deps, turn, await before)
      known.set(turn, looked)
      const charge = await looked
      if (charge && !askedElsewhere(turn)) places.set(charge, noticePlace(turn))
      return charge
    },
    async ofRecording(turn, message) {
      const { session, reply } = turn
      const charge = chargeFor(presentBudgets(settings, lookups.moves.all), {
        ...(await placeOf(deps, session, reply.address)),
        ...payersOfSaid(channels, await rowsBehind(store.read, turn.id), { message, address: reply.address }),
      })
      if (charge && message.triggers && !askedElsewhere(turn)) places.set(charge, noticePlace(turn))
      return charge
    },
    placeOf: (charge) => places.get(charge),
    ofSession: (session) => chargeOfSession(deps, session),
  }
}

function withZone(settings: BudgetConfig): BudgetSettings {
  return {
    ...settings,
    get timezone() {
      return settings.timezone ?? machineZone()
    },
  }
}

export type NoticePlace = Omit<OutboundMessage, 'source' | 'class' | 'text'>

function noticePlace(turn: StartedTurn): NoticePlace {
  const { session, traceId, reply } = turn
  const { address, replyTo, reader } = reply
  return {
    ...{ session, address, traceId, ...priorityOf(turn) },
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(reader === undefined ? {} : { reader }),
  }
}

async function chargeOfTurn(
  deps: BudgetDeps,
  turn: StartedTurn,
  before: Charge | undefined,
): Promise<Charge | undefined> {
  const { config, store, channels, lookups } = deps
  if (config.budgets === undefined) return undefined
  const charge = chargeFor(presentBudgets(config.budgets, lookups.moves.all), {
    ...(await placeOf(deps, turn.session, turn.reply.address)),
    ...payersOf(channels, await rowsBehind(store.read, turn.id)),
  })
  return before === undefined ? charge : { ...(charge ?? UNPAID), follows: before }
}

type Said = Pick<UserMessageData, 'sender' | 'person' | 'chat' | 'triggers'>

/**
 * Returns who pays for what came with a message of a turn: whoever sent it. For one that asks nothing no decision is
 * looked up: somebody let in without a name counts as a stranger.
 */
function payersOfSaid(
  channels: Channels,
  rows: readonly InboxRow[],
  { message: { sender, person, chat, triggers }, address }: { readonly message: Said; readonly address: Address },
): Payers | Pick<Payers, 'askers' | 'strangers'> {
  if (triggers) {
    const own = rows.filter(({ dispatch: { event } }) => event.sender.id === sender.id)
    return payersOf(channels, own.length === 0 ? rows : own)
  }
  if (person !== undefined) return { askers: [{ kind: 'person', id: person }], strangers: false }
  const said = chat === undefined ? address : addressNamed(chat)
  if (said === undefined) return { askers: [], strangers: true }
  const { channel } = said
  return { askers: [{ kind: 'stranger', id: platformIdOf(channels, channel, sender) }], strangers: true }
}

/** Messages between sessions that lead to one are fewer; a task has one, a late approval one more. */
const MOST_TURNS = 10

/** Returns the messages that a turn answers; of one that another turn has asked for, those which that turn answers. */
async function rowsBehind(
  read: Pick<StoreReader, 'inbox'>,
  turn: TurnId,
  turns = MOST_TURNS,
): Promise<readonly InboxRow[]> {
  const rows = await read.inbox.ofTurn(turn)
  const behind = rows.map((row) => {
    const { posted, payer } = row.dispatch
    const asking = payer ? undefined : posted?.turn
    return asking === undefined || turns === 0 ? [row] : rowsBehind(read, asking, turns - 1)
  })
  return (await Promise.all(behind)).flat()
}

const UNPAID: Charge = { shared: [], askers: [] }

async function chargeOfSession(deps: BudgetDeps, id: SessionId): Promise<Charge | undefined> {
  const { config, store, lookups } = deps
  const session = await store.read.sessions.get(id)
  if (config.budgets === undefined || session === undefined) return undefined
  return chargeFor(presentBudgets(config.budgets, lookups.moves.all), {
    ...(await placeOf(deps, session, addressOf(session))),
    ...(await participantsOf(deps, session)),
  })
}

/** Returns where a session's calls count: those of a task in the conversation, or the schedule, that has begun it. */
async function placeOf(
  deps: BudgetDeps,
  session: SessionIdentity,
  own: Address,
): Promise<Pick<ChargedFor, 'address' | 'schedule' | 'session'> & { readonly address: Address }> {
  const parent =
    session.source.kind === 'task' && session.parent ? await deps.store.read.sessions.get(session.parent) : undefined
  const began = parent ?? session
  const { triggerId } = began.source
  const address = parent === undefined ? own : addressOf(parent)
  const cap = capOf(deps, began)
  const place = { address, ...(cap === undefined ? {} : { session: cap }) }
  return isScheduled(began) && triggerId !== undefined ? { ...place, schedule: triggerId } : place
}

/** Returns the cap of the whole cost of a session, set by hand or configured. */
function capOf(
  { config: { session }, lookups: { overrides } }: Pick<BudgetDeps, 'config' | 'lookups'>,
  { id, createdAt }: Pick<SessionIdentity, 'id' | 'createdAt'>,
): PayerBudget | undefined {
  const { maxCost = session.maxCost } = overrides.of(id)
  if (maxCost === undefined) return undefined
  const limit = { micros: Math.round(maxCost * 1_000_000) }
  return {
    payer: { kind: 'session', id },
    period: 'session',
    limit,
    since: createdAt,
    onExceed: session.onExceed ?? 'stop',
  }
}

/** Returns the person of a direct chat as the payer; where several people talk, none of them pays alone. */
async function participantsOf(
  { store, lookups, channels }: BudgetDeps,
  session: Session,
): Promise<Pick<Payers, 'askers' | 'strangers'> & Partial<Payers>> {
  const authors = (await store.read.participants.of(session.id)).filter((author) => author !== NOBODY)
  const found: Payer[] = []
  // By our own channels people come whom nobody let in, with the token of a program.
  let known = session.source.kind !== 'channel' && !OWN_CHANNELS.includes(session.source.kind)
  for (const author of authors) {
    const { person, role } = await identityOfAuthor(lookups, author)
    known ||= role !== 'guest'
    found.push(person === undefined ? { kind: 'stranger', id: author } : { kind: 'person', id: person })
  }
  const [only] = found.length === 1 ? found : []
  if (known) return { askers: only ? [only] : [], strangers: false }
  // An applicant who was let in has no role, and no name: the decision about what they asked last knows them.
  const [turn] = await store.read.events.latestOf(session.id, ['turn_started'], 1)
  const rows = turn?.turnId === undefined ? [] : await rowsBehind(store.read, turn.turnId)
  const asked = payersOf(channels, rows)
  const same = only && asked.askers.find(({ id }) => id === only.id)
  return { ...asked, askers: only ? [same ?? only] : [], strangers: rows.length === 0 || asked.strangers }
}

interface PaidAudioDeps extends Pick<BudgetDeps, 'config' | 'store' | 'clock' | 'logger'> {
  readonly budgets: Budgets | undefined
}

/** Returns the audio endpoint; each of its calls has to fit the budgets, and is in the cost of the day. */
export function paidAudio(audio: Audio, deps: PaidAudioDeps): Audio {
  const { budgets, config } = deps
  const { transcribe, speak } = config.audio ?? {}
  const models = { ...(transcribe && { transcribe: transcribe.model }), ...(speak && { speak: speak.model }) }
  return payForAudio(audio, { budgets, models, spent: countBeside(deps) })
}
