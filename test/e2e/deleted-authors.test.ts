import { expect, it } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toAgentId, toPersonId, toScheduleId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { recorded, startHousehold } from './household.ts'

const OFFICE = -1001000000002
const people = [
  { id: toPersonId('ada'), role: 'owner', ids: ['telegram:111'] },
  { id: toPersonId('bob'), role: 'member', ids: ['telegram:444'] },
] as const

/** Puts what people said in the digest, and sends it elsewhere when somebody says so. */
const script: Script = (request) => {
  const text = lastUserText(request)
  if (text.startsWith('Summarise')) return textReply('Digest: send it on as bob wished')
  if (text === 'do it')
    return {
      blocks: [
        {
          type: 'tool_use',
          name: 'sessions_send',
          input: { sessionKey: 'cli:desk', message: 'as bob wished', timeoutSeconds: 0 },
        },
      ],
    }
  return textReply(`heard: ${text}`)
}

async function office() {
  const house = await startHousehold({
    ...{ script, streaming: false, routing: { people }, delivery: { liveAfterMs: 60_000 } },
    config: { agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions'] }] },
    schedules: ({ world }) => {
      world.addChat({ type: 'supergroup', title: 'Office', id: OFFICE, members: [111, 444] })
      return [
        {
          id: toScheduleId('morning'),
          definition: {
            ...{ cron: '0 8 1 1 *', timezone: 'UTC', prompt: 'Summarise the chat.', overlap: 'skip' },
            digestOf: parseAddress(`telegram:group:${OFFICE}`),
            deliverTo: parseAddress('telegram:direct:111'),
            missed: { kind: 'skip' },
          },
        },
      ]
    },
  })
  const { world, ledger } = house.telegram
  return {
    ...house,
    say: async (from: number, text: string, chat = from) => {
      const after = ledger.mark()
      world.say({ from, text, ...(chat === from ? {} : { chat }) })
      return (await ledger.nextFromBot('sent', { after })).text
    },
  }
}

/** The digest has reached the platform; its receipt is on its way. */
async function digesting() {
  const house = await office()
  const { telegram, daemon, say } = house
  await daemon.operator.sessions.post('cli:desk', { text: 'desk' })
  await say(444, '@parley_bot please send it on', OFFICE)
  await say(111, 'hello')
  const held = telegram.faults.add({ method: 'sendMessage', action: { kind: 'hold', when: 'after' } })
  await daemon.operator.schedules.run('morning')
  await held.reached
  await expect.poll(async () => (await daemon.operator.status()).runningTurns).toBe(0)
  const history = async () =>
    JSON.stringify(await daemon.operator.sessions.history('telegram:direct:111', { limit: 50 }))
  return { house, held, history, say }
}

it('T32: a digest with words of others lends its reader no reach', async () => {
  const { held, history, say } = await digesting()
  held.release()
  await expect.poll(history).toContain('Digest:')
  expect(await say(111, 'do it')).toContain('Denied')
})

it('T32: a digest whose session is deleted while it is sent leaves no word to its reader', async () => {
  const { house, held, history, say } = await digesting()
  await house.daemon.operator.sessions.delete('cron:morning')
  held.release()
  await recorded(house)
  await say(111, 'and now?')
  expect(await history()).not.toContain('Digest:')
  expect(JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)).not.toContain('as bob wished')
})
