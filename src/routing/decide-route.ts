import type { ChannelTraits } from '../core/channel-traits.ts'
import { mayGive } from '../core/command.ts'
import type { Decision, Dispatch, Identity, IgnoreReason, RefuseReason, TraceStep } from '../core/dispatch.ts'
import type { InboundEvent, InboundText } from '../core/message.ts'
import { type AccessVerdict, decideAccess } from './access.ts'
import { type Addressing, findAddressing, isNamed, NAMED, NOT_NAMED } from './addressing.ts'
import { admitsBot, holdBack, NO_RULE } from './bots.ts'
import type { ChatSettings } from './chat-settings.ts'
import { chooseSession, type Routed } from './choose-session.ts'
import type { Routing } from './compile-routing.ts'
import { findDispatchRule } from './dispatch-rules.ts'
import { decideTrigger, findGroupRule, type GroupRuleEntry, type TriggerVerdict } from './group-rules.ts'
import { GUEST, identify, SHARED_ID } from './identify.ts'
import { type MatchFacts, matchFacts, type SenderIds, senderIds } from './match-facts.ts'
import { muteStep } from './mute.ts'
import type { KnownCommand, RouteFacts } from './route-facts.ts'
import { decideSend } from './send-policy.ts'
import { pass, stop } from './trace.ts'

/** The results of the first stages for a dispatch. */
interface Arrival {
  readonly dispatch: Dispatch
  readonly identity: Identity
  readonly place: MatchFacts
  /** The group rule of the place; direct chats have none. */
  readonly rule: GroupRuleEntry | undefined
  readonly settings: ChatSettings
  readonly addressing: Addressing
  readonly command: KnownCommand | undefined
  /** Set for a bot that no rule for people decides about. */
  readonly unanswered?: TriggerVerdict | undefined
}

/** The trace of the stages before the route, in order. */
interface FirstSteps {
  readonly sender: TraceStep
  readonly identity: TraceStep
  readonly access: TraceStep
  readonly command: TraceStep
  readonly public?: true
}

const SENDERS = {
  user: pass('sender', 'a user'),
  anonymous: pass('sender', 'an anonymous sender'),
  bot: pass('sender', 'a bot'),
}

function ignoredBot(step: TraceStep): Decision {
  return { kind: 'ignore', reason: 'bot', identity: GUEST, trace: [step] }
}

/** The platform itself says that a chat has a new id, so the sender does not matter. */
const MOVED: Decision = {
  kind: 'ignore',
  reason: 'chat_moved',
  identity: GUEST,
  trace: [pass('sender', 'the platform: the chat has a new id')],
}

/**
 * The routing answer for one dispatch: pure, the same for live traffic, `why` and replay. The order is sender,
 * identity, access, command, mute, send policy, dispatch, session, group rule (S25), and every kind of event
 * passes the first three. The trace has one step for each stage that looked, in that order.
 */
export function decideRoute(routing: Routing, facts: RouteFacts, dispatch: Dispatch): Decision {
  const { event, origin } = dispatch
  if (event.kind === 'migration') return MOVED
  if (event.sender.kind === 'bot' && origin === 'platform' && event.kind !== 'delete')
    return decideBot(routing, facts, dispatch)
  const traits = routing.channels.traits(event.address.channel)
  const ids = senderIds(traits, event.sender)
  const { identity, step } = identify(routing.people, facts, { dispatch, ids })
  const arrival = arrive(routing, facts, { dispatch, identity, ids, traits })
  const access = admit(routing, facts, arrival)
  if (event.kind === 'delete' && !access.asks) return decideDelete(arrival)
  const sender = SENDERS[event.sender.kind]
  const { edits } = arrival.settings
  // When its author is let in, a waiting text is read as last edited, unless edits are ignored.
  if (event.kind === 'edit' && access.asks && edits.policy === 'ignore') {
    return amendment(edits, identity, [sender, step, access.step])
  }
  if (access.refused) return refusal(access, access.refused, { identity, trace: [sender, step, access.step] })
  const input = readInput(event, identity, arrival.command)
  if (input.kind === 'ignore') {
    return { kind: 'ignore', reason: input.reason, identity, trace: [sender, step, access.step, input.step] }
  }
  if (event.kind === 'edit' && edits.policy !== 'rerun') {
    return amendment(edits, identity, [sender, step, access.step, input.step])
  }
  const routed = route(routing, arrival)
  // A program names whom it speaks for: they are strangers as those of a platform are.
  const comes = dispatch.origin === 'platform' || dispatch.posted?.client !== undefined
  const open = access.public && comes ? ({ public: true } as const) : {}
  if (input.kind === 'text') {
    const first = { sender, identity: step, access: access.step, command: input.step, ...open }
    return decideText(routing, facts, { arrival, event: input.event, routed, first })
  }
  const trace = [sender, step, access.step, input.step, routed.dispatchStep, routed.sessionStep]
  return { kind: 'control', reason: 'command', command: input.command, route: routed.route, identity, trace, ...open }
}

/**
 * A deletion only takes away: who may ask for it is the platform's affair, which does not say everywhere who did. It
 * reaches what was stored of the message, what waits for its author to be let in included.
 */
function decideDelete({ identity, settings: { deletions } }: Arrival): Decision {
  const trace = [deletions.step]
  return deletions.policy === 'ignore'
    ? { kind: 'ignore', reason: 'deletions', identity, trace }
    : { kind: 'amend', reason: 'deleted', identity, trace }
}

/**
 * Another bot: context unless the rule of the place lists or ignores it. It has no authority, gives no commands, and is
 * answered only within the chat's budget.
 */
function decideBot(routing: Routing, facts: RouteFacts, dispatch: Dispatch): Decision {
  const { event } = dispatch
  const mentioned = 'mentioned' in event && event.mentioned
  const traits = routing.channels.traits(event.address.channel)
  const place = matchFacts({ address: event.address, traits }, senderIds(traits, event.sender), {
    person: undefined,
    mentioned,
  })
  if (place.chatType === 'direct') return ignoredBot(stop('sender', 'a bot'))
  const rule = findGroupRule(routing.groups, place)
  if (rule === undefined) return ignoredBot(NO_RULE)
  const { bots, settings } = rule
  const input = readInput(event, GUEST, undefined)
  if (bots.policy === 'ignore' || input.kind === 'control') return ignoredBot(bots.ignored)
  const identity = GUEST
  const listed = admitsBot(bots, place)
  const access = listed ? bots.admitted : bots.left
  const trace = [SENDERS.bot, SHARED_ID, access, input.step]
  if (input.kind === 'ignore') return { kind: 'ignore', reason: input.reason, identity, trace }
  if (event.kind === 'edit') return amendment(settings.edits, identity, trace)
  const arrival = {
    dispatch,
    identity,
    place,
    rule,
    settings,
    addressing: mentioned && listed ? NAMED : NOT_NAMED,
    command: undefined,
    unanswered: unanswered(rule, { listed, mentioned }),
  }
  const first = { sender: SENDERS.bot, identity: SHARED_ID, access, command: input.step }
  const decision = decideText(routing, facts, { arrival, event: input.event, routed: route(routing, arrival), first })
  return holdBack(decision, facts.botSpending(event.address, dispatch.receivedAt), routing.botBudget)
}

/** Undefined where a bot is judged as a person is. */
function unanswered(
  { bots, trigger }: GroupRuleEntry,
  { listed, mentioned }: { readonly listed: boolean; readonly mentioned: boolean },
): TriggerVerdict | undefined {
  if (!listed) return { kind: 'context', reason: 'bot', step: bots.unlisted }
  if (bots.policy === 'allow' || mentioned || trigger === 'never') return undefined
  return { kind: 'context', reason: 'not_addressed', step: bots.unasked }
}

function amendment(edits: ChatSettings['edits'], identity: Identity, before: readonly TraceStep[]): Decision {
  const trace = [...before, edits.step]
  return edits.policy === 'ignore'
    ? { kind: 'ignore', reason: 'edits', identity, trace }
    : { kind: 'amend', reason: 'edited', identity, trace }
}

function arrive(
  routing: Routing,
  facts: RouteFacts,
  {
    dispatch,
    identity,
    ids,
    traits,
  }: Pick<Arrival, 'dispatch' | 'identity'> & {
    readonly ids: SenderIds
    readonly traits: ChannelTraits
  },
): Arrival {
  const { event } = dispatch
  const { address } = event
  const command = event.kind === 'command' ? facts.command(event.name) : undefined
  const mentioned = isNamed(event, command)
  const formerChat = facts.formerChat(address.channel, address.chat)
  const place = matchFacts({ address, traits }, ids, { person: identity.person, mentioned, formerChat })
  const rule = place.chatType === 'direct' ? undefined : findGroupRule(routing.groups, place)
  const settings = rule === undefined ? routing.common : rule.settings
  const addressing = mentioned
    ? NAMED
    : findAddressing({ event, receivedAt: dispatch.receivedAt, topics: traits.topics }, settings, facts)
  const meant = mentioned === (addressing.kind !== 'none') ? place : { ...place, mentioned: true }
  return { dispatch, identity, place: meant, rule, settings, addressing, command }
}

function refusal(
  { asks }: AccessVerdict,
  reason: RefuseReason,
  decided: { readonly identity: Identity; readonly trace: readonly TraceStep[] },
): Decision {
  return { kind: 'refuse', reason, ...decided, ...(asks === undefined ? {} : { asks }) }
}

function admit(
  routing: Routing,
  facts: RouteFacts,
  { dispatch, identity, place, rule, command }: Arrival,
): AccessVerdict {
  const { event } = dispatch
  const ownerKnown = routing.ownerNamed || facts.ownerKnown
  const asks = command?.asks === true && ownerKnown && event.kind === 'command' && event.args === ''
  const opens = command?.open === true && command.who === 'anyone' && !asks
  return decideAccess(
    { origin: dispatch.origin, event, identity, addressed: place.mentioned, rule, opens },
    {
      channels: routing.channels,
      direct: routing.direct,
      ownerKnown,
      admission: facts.admission,
    },
  )
}

function route(routing: Routing, { dispatch, identity, place }: Arrival): Routed {
  return chooseSession(
    routing.sessions,
    { dispatch, identity, facts: place },
    findDispatchRule(routing.dispatch, place),
  )
}

interface Admitted {
  readonly arrival: Arrival
  readonly event: InboundText
  readonly routed: Routed
  readonly first: FirstSteps
}

/** An edit that would not be answered if it were new changes what is stored, and that is all. */
function decideText(routing: Routing, facts: RouteFacts, admitted: Admitted): Decision {
  const decision = decideNew(routing, facts, admitted)
  if (admitted.event.kind !== 'edit' || decision.kind === 'run') return decision
  return { kind: 'amend', reason: 'edited', identity: decision.identity, trace: decision.trace }
}

/**
 * The send policy needs the session's key, so the route is known by then; a denied text is stored there. What another
 * session or a client has for it is refused instead, and its sender is notified (T30).
 */
function decideNew(routing: Routing, facts: RouteFacts, { arrival, event, routed, first }: Admitted): Decision {
  const { identity, place } = arrival
  const { dispatchStep, sessionStep, route } = routed
  const send = decideSend(routing.sendPolicy, facts, { scopeKey: route.scopeKey, displayKey: route.displayKey, place })
  const sendStep = (send.allowed ? pass : stop)('send-policy', send.because, send.config)
  const addressed = place.mentioned
  const muted = muteStep(facts, arrival.dispatch)
  if (muted) {
    const trace = [first.sender, first.identity, first.access, first.command, muted, dispatchStep, sessionStep]
    return { kind: 'context', reason: 'muted', route, addressed, identity, trace }
  }
  if (!send.allowed) {
    const trace = [first.sender, first.identity, first.access, first.command, sendStep, dispatchStep, sessionStep]
    if (arrival.dispatch.posted) return { kind: 'refuse', reason: 'send_policy', identity, trace }
    return { kind: 'context', reason: 'send_policy', route, addressed, identity, trace }
  }
  const trigger = triggerOf(arrival, event)
  const trace = [
    first.sender,
    first.identity,
    first.access,
    first.command,
    sendStep,
    dispatchStep,
    sessionStep,
    trigger.step,
  ]
  if (trigger.kind === 'run') {
    const { precheck } = trigger
    const further = { ...(first.public && { public: true as const }), ...(precheck && { precheck }) }
    return { kind: 'run', reason: trigger.reason, route, addressed, identity, trace, ...further }
  }
  return { kind: 'context', reason: trigger.reason, route, addressed, identity, trace }
}

const APPENDED: TriggerVerdict = {
  kind: 'context',
  reason: 'appended',
  step: stop('group-rule', 'its caller asked for no answer'),
}

function triggerOf(arrival: Arrival, event: InboundText): TriggerVerdict {
  const { dispatch, identity, place, rule, settings, addressing, unanswered } = arrival
  if (unanswered) return unanswered
  if (dispatch.posted?.append) return APPENDED
  const direct = place.chatType === 'direct'
  return decideTrigger({ origin: dispatch.origin, event, identity, direct, addressing }, rule, settings)
}

/** The request in an admitted event. */
type Input =
  | { readonly kind: 'text'; readonly event: InboundText; readonly step: TraceStep }
  | { readonly kind: 'control'; readonly event: InboundText; readonly command: string; readonly step: TraceStep }
  | { readonly kind: 'ignore'; readonly reason: IgnoreReason; readonly step: TraceStep }

const MESSAGE = pass('command', 'no command')
const EDIT = pass('command', 'an edit')
const EMPTY: Input = { kind: 'ignore', reason: 'empty', step: stop('command', 'neither text nor attachment') }

/**
 * A known control command is recognised by the platform's entity, never by the text (T28); an owner's command says
 * nothing to others. A command nobody knows is a message like any other, unless it is near one that its sender may
 * give, and said to the bot: that is a slip, which an answer names.
 */
function readInput(event: InboundEvent, identity: Identity, known: KnownCommand | undefined): Input {
  switch (event.kind) {
    case 'message':
      return isEmpty(event) ? EMPTY : { kind: 'text', event, step: MESSAGE }
    case 'edit':
      return isEmpty(event) ? EMPTY : { kind: 'text', event, step: EDIT }
    case 'command':
      if (known === undefined || (known.near !== undefined && !isSlip(event, identity, known)))
        return { kind: 'text', event, step: pass('command', `/${event.name} is no command of ours`) }
      if (!mayGive(identity, known)) {
        return { kind: 'ignore', reason: 'command_for_owner', step: stop('command', `/${event.name} is for the owner`) }
      }
      return { kind: 'control', event, command: event.name, step: pass('command', meant(event.name, known)) }
    default:
      return { kind: 'ignore', reason: 'unsupported_event', step: stop('command', `a ${event.kind} asks for nothing`) }
  }
}

function isSlip({ address, mentioned }: InboundText, identity: Identity, known: KnownCommand): boolean {
  return (address.chatType === 'direct' || mentioned) && mayGive(identity, known)
}

function meant(name: string, { near }: KnownCommand): string {
  return near === undefined ? `/${name}` : `/${name} is no command of ours, and near /${near}`
}

function isEmpty({ text, attachments, enclosed }: InboundText): boolean {
  return attachments.length === 0 && enclosed === undefined && text.trim() === ''
}
