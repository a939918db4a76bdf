import { parseAddress } from '../../src/core/address.ts'
import type { ToolRule } from '../../src/core/approval.ts'
import { toAgentId, toScheduleId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'
import type { SetClock } from './set-clock.ts'

export const GROUP = -1001000000001

/** Asks when somebody says `ask me` or `ask everybody`, and says what it learns; else it says what it was told. */
export const askingScript: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  const said = lastUserText(request)
  const [, whom] = /ask (me|everybody)$/.exec(said) ?? []
  if (said.endsWith('post it'))
    return {
      blocks: [{ type: 'tool_use', name: 'send_message', input: { to: 'telegram:direct:444', text: 'hi' } }],
    }
  if (whom === undefined) return textReply(`heard: ${said}`)
  const everybody = whom === 'everybody' ? { everybody: true } : {}
  const input = { question: 'Which **colour**?', choices: ['Red', 'Blue', 'Deep green'], ...everybody }
  return { blocks: [{ type: 'tool_use', name: 'ask', input }] }
}

/** Ada owns the agent, Bob is a member, anybody may talk to it. */
export async function questioningHousehold(more: { rules?: readonly ToolRule[]; clock?: SetClock } = {}) {
  const log = new AwaitedLog()
  const house = await startHousehold({
    ...{ script: askingScript, streaming: false, logger: log },
    ...(more.clock ? { clock: more.clock } : {}),
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['ask', 'message'] }],
      ...(more.rules ? { toolPolicy: more.rules } : {}),
    },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
    schedules: ({ world }) => {
      world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444, 555] })
      return [
        {
          id: toScheduleId('paint'),
          definition: {
            ...{ cron: '0 8 1 1 *', timezone: 'UTC', prompt: 'ask me', overlap: 'skip' },
            ...{ deliverTo: parseAddress('telegram:direct:111'), missed: { kind: 'skip' } },
          },
        },
      ]
    },
  })
  const { world, ledger } = house.telegram
  const heard = (chat: number, words: string, after = 0) =>
    ledger.nextFromBot('sent', { after, where: ({ chatId, text }) => chatId === chat && text.includes(words) })
  const say = async (from: number, text: string, words: string, chat = from) => {
    const after = ledger.mark()
    world.say({ from, text, ...(chat === from ? {} : { chat }) })
    return heard(chat, words, after)
  }
  /** Presses a button of a message; resolves with the notice that this person alone sees. */
  const press = async (from: number, at: { chat: number; message: number }, data: string) => {
    const id = world.press({ from, ...at, data })
    const answered = await ledger.next(
      (entry) =>
        entry.kind === 'call' && entry.method === 'answerCallbackQuery' && entry.params.callback_query_id === id,
    )
    return answered.kind === 'call' ? answered.params.text : undefined
  }
  /** Has a question asked; returns it as it stands in the chat, and what becomes of it. */
  const asked = async (from: number, text: string, chat = from) => {
    const after = ledger.mark()
    const { message, text: card, messageId } = await say(from, text, 'Which colour', chat)
    const { inline_keyboard: rows = [] } = (message.reply_markup ?? {}) as {
      inline_keyboard?: { text: string; callback_data: string }[][]
    }
    const buttons = Object.fromEntries(rows.flat().map(({ text: label, callback_data: data }) => [label, data]))
    const closed = () => ledger.nextFromBot('edited', { after, where: ({ text: now }) => now.includes('Which colour') })
    const code = /\/answer (\w+)/.exec(card)?.[1] ?? ''
    return { card, code, buttons, at: { chat, message: messageId }, closed, after }
  }
  await say(111, 'hello', 'heard')
  return { ...house, world, ledger, heard, say, press, asked, log }
}
