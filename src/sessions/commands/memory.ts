import { senderAuthor } from '../../core/author.ts'
import type { Charge } from '../../core/budget.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import { joinsPeople } from '../../core/joins-people.ts'
import { literalExcerpt } from '../../core/literal.ts'
import { IN_MIND, type MemoryAsker, type MemoryDesk, type ShownEntry } from '../../core/memory.ts'
import { failureCause } from '../../core/model-remedy.ts'
import { NOBODY } from '../../core/platform-id.ts'
import type { Store } from '../../store/store.ts'
import { type OpenPorts, openSession } from '../turns/open-session.ts'
import { refuseJoined } from './joined-session.ts'

export interface MemoryCommandDeps extends OpenPorts {
  readonly store: Store
  readonly memory: { readonly desk: MemoryDesk }
  /** Absent where no budget is configured. */
  readonly budgets: { ofCommand(this: void, call: CommandCall): Charge | undefined } | undefined
}

const SHOWN = 20
const LONGEST_SHOWN = 300
const FORMS =
  'Say `/memory` or `/memory <words>` to see what I remember here, `/memory correct <number> <text>`, or `/memory remove <number>`.'

/**
 * `/memory`, `/remember` and `/checkpoint`. What is remembered in a shared conversation is shown there, everything else
 * in direct chats; it is changed by its only author or an owner. None but `/checkpoint` asks a model.
 */
export function memoryCommands(deps: MemoryCommandDeps): readonly ChatCommand[] {
  return [
    {
      name: 'memory',
      description: 'Show what I remember here, correct it, remove it',
      args: 'words to look for, or correct and a number and a text, or remove and a number',
      who: 'anyone',
      fromConversation: true,
      run: (call) => memory(call, deps),
    },
    {
      name: 'remember',
      description: 'Have me remember something for this conversation',
      args: 'the text',
      who: 'anyone',
      run: (call) => remember(call, deps),
    },
    {
      name: 'checkpoint',
      description: 'Look through what was said here for what is worth remembering, now',
      who: 'anyone',
      run: (call) => checkpoint(call, deps),
    },
  ]
}

async function memory(call: CommandCall, deps: MemoryCommandDeps): Promise<string> {
  const { desk } = deps.memory
  const asker = await askerOf(call, deps)
  const asked = call.args.trim()
  const [, verb = '', number = '', text = ''] = /^(correct|remove)\s+#?(\d{1,15})(?:\s+(.*))?$/is.exec(asked) ?? []
  const no = Number(number)
  if (verb.toLowerCase() === 'remove' && text === '') {
    const removed = await desk.remove(asker, no, call.inboxId)
    return `Removed: ${removed === undefined ? `#${no}` : line(removed)}`
  }
  if (verb.toLowerCase() === 'correct' && text !== '') return `Corrected: ${line(await desk.correct(asker, no, text))}`
  // To look for these words instead would say that nothing is there to be forgotten.
  const other = /^(forget|delete)\s+#?\d{1,15}$/i.test(asked)
  if (verb !== '' || other || /^(correct|remove)$/i.test(asked)) throw new ParleyError('invalid', FORMS)
  const entries = await desk.list(asker, asked, SHOWN)
  const working = asked === '' ? await desk.working(asker) : undefined
  const lines = [
    ...(entries.length === 0 ? [asked === '' ? 'I remember nothing here yet.' : 'I find nothing like that.'] : []),
    ...entries.map(line),
    ...(working === undefined ? [] : ['', `${IN_MIND} ${literalExcerpt(working, 1_000)}`]),
  ]
  return lines.join('\n')
}

function line({ no, text }: ShownEntry): string {
  return `#${no} ${literalExcerpt(text, LONGEST_SHOWN)}`
}

async function remember(call: CommandCall, deps: MemoryCommandDeps): Promise<string> {
  const text = call.args.trim()
  if (text === '') throw new ParleyError('invalid', 'Say `/remember <text>`.')
  const asker = await askerOf(call, deps)
  return `I will remember: ${line(await deps.memory.desk.remember(asker, text, call.inboxId))}`
}

async function checkpoint(call: CommandCall, deps: MemoryCommandDeps): Promise<string> {
  refuseJoined(deps.channels, call)
  const { sessionId } = await askerOf(call, deps)
  const outcome = await deps.memory.desk.checkpoint(sessionId, deps.budgets?.ofCommand(call)).catch(failed)
  switch (outcome.kind) {
    case 'nothing':
      return 'There is nothing new to look through since the last time.'
    case 'running':
      return 'I am looking through this conversation already.'
    case 'done': {
      const { saved, changed, removed } = outcome
      return `Done: ${saved} new, ${changed} changed, ${removed} removed. \`/memory\` shows them.`
    }
  }
}

function failed(error: unknown): never {
  const code = errorCode(error)
  if (!code.startsWith('model_')) throw error
  throw new ParleyError(code, `I could not look through it: ${failureCause(code)}. Everything stays as it is.`)
}

/** Throws `forbidden` for strangers, and where the agent has no memory. */
async function askerOf(
  { dispatch, decision }: CommandCall,
  { channels, memory: { desk }, store, ...ports }: MemoryCommandDeps,
): Promise<MemoryAsker> {
  const { address, sender } = dispatch.event
  const author = senderAuthor(channels, address.channel, sender)
  if (decision.public || decision.identity.role === 'guest' || author === NOBODY)
    throw new ParleyError('forbidden', 'Only people whom my owner knows may do that.')
  if (!desk.has(decision.route.agent))
    throw new ParleyError('forbidden', 'I have no memory here: my owner can add `memory` to my tools.')
  // An entry from before the first message belongs to the session which that message will find.
  const session = await store.write((tx) => openSession(tx, { ...decision, dispatch }, { ...ports, channels }))
  const shared = address.chatType !== 'direct'
  return { author, sessionId: session.id, shared, joined: joinsPeople(channels, decision.route) }
}
