import { toAgentId } from '../../src/core/ids.ts'
import type { CheckpointSettings } from '../../src/core/memory.ts'
import type { MessagesRequest } from '../../src/rehearsal/anthropic/request.ts'
import {
  lastUserText,
  type Reply,
  type ReplyBlock,
  type Script,
  textReply,
} from '../../src/rehearsal/anthropic/script.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

export const WRITTEN = 'A checkpoint was written'
export const MODEL = 'anthropic/claude-haiku-4-5'

/** Returns true for a request of a checkpoint. */
export function isCheckpoint({ system }: Pick<MessagesRequest, 'system'>): boolean {
  return JSON.stringify(system ?? '').includes('You keep the memory')
}

type Noted = readonly (readonly [tool: string, input: Readonly<Record<string, unknown>>])[]

/** Asks for these calls at once, and is done after their results. */
export function noting(...calls: Noted): (request: MessagesRequest) => Reply {
  return (request) =>
    toolResult(request) !== undefined || calls.length === 0
      ? textReply('done')
      : {
          blocks: calls.map(
            ([name, input], nth): ReplyBlock => ({ type: 'tool_use', name, input, id: `toolu_${nth}` }),
          ),
        }
}

/**
 * Makes the call that a message names, `memory_search {"query":"tea"}`, and says what it returned; answers any other
 * message with "heard". Checkpoints get the reply of `checkpoint`.
 */
export function remembering(checkpoint: (request: MessagesRequest) => Reply | Promise<Reply> = noting()): Script {
  return (request) => {
    if (isCheckpoint(request)) return checkpoint(request)
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says ${result}`)
    const [, tool = '', args = ''] = /((?:memory|session|sessions|read)_\w+) (\{.*\})/.exec(lastUserText(request)) ?? []
    if (tool === '') return textReply('heard')
    return { blocks: [{ type: 'tool_use', name: tool, input: JSON.parse(args) as Record<string, unknown> }] }
  }
}

export interface Remembering extends Household {
  readonly logger: AwaitedLog
  /** Says something and returns the answer. */
  say(text: string, more?: { readonly from?: number; readonly chat?: number }): Promise<string>
  /** The texts of the requests of checkpoints, their first ones. */
  lookedThrough(): readonly string[]
  /** The whole messages of requests of turns, as JSON. */
  asked(): readonly string[]
}

export const agents = [{ id: toAgentId('main'), model: MODEL, prompt: 'Be brief.', tools: ['memory', 'sessions'] }]

/** A household whose agent has a memory; `checkpoint` says when it looks through a conversation by itself. */
export async function startRemembering(
  checkpoint: Partial<CheckpointSettings>,
  options: HouseholdOptions = {},
): Promise<Remembering> {
  const logger = new AwaitedLog()
  const { config, ...rest } = options
  const session = { queue: { max: 100, busy: 'queue' }, checkpoint } as const
  const home = await startHousehold({
    ...{ script: remembering(), streaming: false, logger, config: { agents, session, ...config } },
    ...rest,
  })
  const requests = () => home.anthropic?.ledger.requests() ?? []
  const texts = (request: MessagesRequest): string => JSON.stringify(request.messages)
  return {
    ...home,
    get daemon() {
      return home.daemon
    },
    logger,
    async say(text, { from = 111, chat = from } = {}) {
      const after = home.telegram.ledger.mark()
      home.telegram.world.say({ from, text, ...(chat === from ? {} : { chat }) })
      return (await home.telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })).text
    },
    lookedThrough: () =>
      requests()
        .filter((one) => isCheckpoint(one) && one.messages.length === 1)
        .map(texts),
    asked: () =>
      requests()
        .filter((one) => !isCheckpoint(one))
        .map(texts),
  }
}
