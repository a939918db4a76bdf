import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner } from '../fakes/routing-policy.ts'
import { GROUP } from './asking-household.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

const SECRET = 'bluebird'
const agents = [
  { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['schedule', 'sessions'] },
]

/** Does what anybody says: `do <tool> <arguments>`. What says "slow" waits for the gate. */
const script =
  (gate: ReturnType<typeof createGate>): Script =>
  (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says: ${result}`)
    const text = lastUserText(request)
    if (text.includes('slow')) return { ...textReply('heard'), holds: [{ beforeDelta: 0, gate }] }
    const [, name, args] = /do (\w+) (\{.*\})/.exec(text) ?? []
    if (name === undefined || args === undefined) return textReply('heard')
    return { blocks: [{ type: 'tool_use', name, input: JSON.parse(args) as Readonly<Record<string, unknown>> }] }
  }

/** Ada owns the agent, which reads in the group what whoever asks there could read; Bob is a member. */
async function household() {
  const gate = createGate()
  const { telegram, daemon } = await startHousehold({
    ...{ script: script(gate), streaming: false },
    config: { agents, sessionTools: { agents: [], inGroups: 'asker' } },
    routing: {
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'allowlist', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    },
  })
  const { world, ledger } = telegram
  world.addChat({ type: 'supergroup', title: 'Family', id: GROUP, members: [111, 444] })
  const ask = (from: number, text: string): unknown => world.say({ from, chat: GROUP, text: `@parley_bot ${text}` })
  const heard = async (words: string, after: number): Promise<string> =>
    (await ledger.nextFromBot('sent', { after, where: ({ text }) => text.includes(words) })).text
  const after = ledger.mark()
  world.say({ from: 111, text: `my secret is ${SECRET}` })
  await heard('heard', after)
  return { gate, ask, heard, ledger, daemon }
}
type Stage = Awaited<ReturnType<typeof household>>

const READ = `do sessions_history ${JSON.stringify({ sessionKey: 'telegram:direct:111' })}`
const TASK = `do schedule_create ${JSON.stringify({ text: READ, at: 'tomorrow at 9', task: true })}`

const WAYS: [string, (stage: Stage) => Promise<void>, boolean][] = [
  ['its owner alone', async ({ ask }) => void ask(111, TASK), true],
  [
    'a member together with the owner',
    async ({ ask, gate, daemon }) => {
      ask(111, 'slow')
      await gate.reached
      ask(444, TASK)
      ask(111, 'thanks')
      await expect.poll(async () => (await daemon.operator.status()).waiting).toBe(2)
      gate.release()
    },
    false,
  ],
]

it.each(WAYS)(
  'T32: with inGroups: asker, a task for which %s has asked reads as all who asked',
  async (_, begin, reads) => {
    const stage = await household()
    const { heard, ledger, daemon } = stage
    const made = ledger.mark()
    await begin(stage)
    const [, id = ''] = /"id":"(r\w+)"/.exec(await heard('it says', made)) ?? []
    const after = ledger.mark()
    await daemon.operator.schedules.run(id)
    expect((await heard('it says', after)).includes(SECRET)).toBe(reads)
  },
)
