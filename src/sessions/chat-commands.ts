import { formatAddress } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { ChatCommand, CommandCall } from '../core/command.ts'
import { ParleyError } from '../core/errors.ts'
import type { IdSource } from '../core/ids.ts'
import type { OperatorService } from '../core/operator.ts'
import type { Store } from '../store/store.ts'
import type { Access } from './access.ts'
import { describeRow } from './describe-row.ts'
import { draftAfter, startSession } from './open-session.ts'
import type { RunningTurns } from './running-turns.ts'

export interface SessionCommandDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly access: Access
  readonly running: RunningTurns
  readonly operator: Pick<OperatorService, 'status'>
  /** All commands, for `/help`. */
  all(): readonly ChatCommand[]
}

/** The commands the session stage answers, without a model call and without waiting behind a turn. */
export function sessionCommands(deps: SessionCommandDeps): readonly ChatCommand[] {
  return [
    {
      name: 'start',
      description: 'Say hello, or claim this bot with its code',
      who: 'anyone',
      open: true,
      run: (call) => start(call, deps),
    },
    { name: 'help', description: 'What I can do', who: 'anyone', run: async (call) => help(call, deps) },
    { name: 'whoami', description: 'Who you are to me', who: 'anyone', run: async (call) => whoami(call) },
    { name: 'status', description: 'How I am doing', who: 'owner', run: () => status(deps) },
    {
      name: 'new',
      description: 'Start a fresh conversation here',
      who: 'anyone',
      run: (call) => startOver(call, deps),
    },
    { name: 'stop', description: 'Stop what I am working on here', who: 'anyone', run: (call) => stop(call, deps) },
    {
      name: 'why',
      description: 'Why I answered, or did not (reply to a message)',
      who: 'owner',
      run: (call) => why(call, deps),
    },
  ]
}

async function start(
  { dispatch, decision, args }: CommandCall,
  { access }: SessionCommandDeps,
): Promise<string | null> {
  const { address, sender } = dispatch.event
  if (args !== '' && decision.identity.role !== 'owner') {
    if (address.chatType !== 'direct')
      throw new ParleyError('forbidden', 'Claim me in a direct chat, where nobody else reads the code.')
    await access.claim(address.channel, sender, args)
    return 'You are my owner now. Say anything, or `/help` to see what I can do.'
  }
  if (decision.identity.role !== 'guest') return 'Hello! Say anything, or `/help` to see what I can do.'
  return access.ownerKnown
    ? 'Hello. I only talk to people my owner has let in.'
    : 'Nobody owns this bot yet. If it is yours, open the link the daemon printed at its start, or send me `/start <code>`.'
}

function help({ decision }: CommandCall, { all }: SessionCommandDeps): string {
  const owner = decision.identity.role === 'owner'
  const known = all().filter(({ who }) => owner || who === 'anyone')
  return known.map(({ name, description }) => `/${name}: ${description}`).join('\n')
}

function whoami({ dispatch, decision }: CommandCall): string {
  const { sender, address } = dispatch.event
  const person = decision.identity.person ? `, known to me as ${decision.identity.person}` : ''
  return `You are \`${address.channel}:${sender.id}\`${person}; your role is ${decision.identity.role}. This place is \`${formatAddress(address)}\`.`
}

async function status({ operator }: SessionCommandDeps): Promise<string> {
  const report = await operator.status()
  const channels = report.channels.map(
    ({ channel, status, detail }) => `- ${channel}: ${status}${detail ? `, ${detail}` : ''}`,
  )
  const doubtful = report.outbox.uncertain ? [`- ${report.outbox.uncertain} sends of unknown outcome`] : []
  return [
    `Parley ${report.version}, model ${report.models.join(', ')}`,
    ...channels,
    `- ${report.sessions} conversations, ${report.runningTurns} being answered, ${report.waiting} messages waiting`,
    ...doubtful,
  ].join('\n')
}

/** S10: the old session turns inactive, and the scope key points to a new one from now on. */
async function startOver(
  { decision }: CommandCall,
  { store, clock, ids, running }: SessionCommandDeps,
): Promise<string> {
  const current = await store.read.sessions.current(decision.route.scopeKey)
  if (!current) return 'This conversation is fresh already.'
  await running.abort(current.id)
  await store.write(async (tx) => {
    await tx.sessions.deactivate(current.id, clock.now())
    await startSession(tx, draftAfter(current, ids), clock.now())
  })
  return 'Done: a fresh conversation. The old one is kept but no longer used.'
}

async function stop({ decision }: CommandCall, { store, clock, running }: SessionCommandDeps): Promise<string> {
  const current = await store.read.sessions.current(decision.route.scopeKey)
  if (!current) return 'Nothing is running here.'
  const dropped = await store.write(async (tx) => {
    const messages = await tx.inbox.settleWaiting(current.id, 'cancelled')
    if (messages > 0)
      await tx.events.append(current.id, clock.now(), [{ type: 'messages_dropped', data: { messages } }])
    return messages
  })
  // Only what is on disk has stopped for good: a crash now must not bring the turn back (RELIABILITY P37).
  const ended = running.abort(current.id)
  await ended
  if (!ended && dropped === 0) return 'Nothing is running here.'
  return dropped === 0
    ? 'Stopped.'
    : `Stopped, and ${dropped} waiting ${dropped === 1 ? 'message' : 'messages'} with it.`
}

async function why({ dispatch, args }: CommandCall, { store }: SessionCommandDeps): Promise<string> {
  const { event } = dispatch
  const asked = args || (event.kind === 'command' ? event.quoted?.messageId : undefined)
  if (!asked) return 'Reply with `/why` to the message you mean, or give me its id.'
  const { channel, account, chat } = event.address
  const rows = await store.read.inbox.find(asked)
  // An owner may ask about anything, but not by accident about another chat's message with the same number.
  const row = rows.find(
    ({
      dispatch: {
        event: { address },
      },
    }) => args !== '' || (address.channel === channel && address.account === account && address.chat === chat),
  )
  return row ? describeRow(row).join('\n') : 'I have no record of that message: it never reached me.'
}
