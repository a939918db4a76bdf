import { expect, it } from 'vitest'
import type { OnExceed } from '../../src/core/budget.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startHousehold } from './household.ts'

/** A tenth of a cent a token: each answer costs 25 cents. */
const prices = { 'anthropic/rehearsal': { input: 1_000, output: 1_000 } }
const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: '', tools: [], answerTokens: 50 }]

async function household(onExceed?: OnExceed) {
  const home = await startHousehold({
    ...{ script: () => textReply('fine', { usage: { input_tokens: 200, output_tokens: 50 } }), streaming: false },
    config: {
      ...{ agents, budgets: { timezone: 'UTC', warnAt: 0.8, prices } },
      session: { queue: { max: 9, busy: 'queue' }, maxCost: 1, ...(onExceed && { onExceed }) },
    },
  })
  const { world, ledger } = home.telegram
  const say = async (text: string) => {
    const after = ledger.mark()
    world.say({ from: 111, text })
    const where = ({ text }: { readonly text: string }) => !text.startsWith('Of what')
    return (await ledger.nextFromBot('sent', { after, where })).text
  }
  const calls = () => home.anthropic?.ledger.requests().length ?? 0
  /** Speaks until something else than an answer is said. */
  const untilStopped = async () => {
    for (let no = 0; no < 9; no++) {
      const text = await say(`question ${no}`)
      if (text !== 'fine') return text
    }
    return undefined
  }
  const said = (words: string) =>
    world.messages(111, { by: 'bot' }).filter(({ message }) => message.text?.includes(words)).length
  return { ...home, say, calls, untilStopped, said }
}

it('C33: a session stops before the call that could pass its own cap, each time and after a start, until /new', async () => {
  const home = await household()
  expect(await home.untilStopped()).toMatch(/^This conversation would cost more than its cap of \$1\.00; \/new starts/)
  const asked = home.calls()
  expect([3, 4]).toContain(asked)
  await home.restart()
  expect(await home.say('once more')).toContain('its cap of $1.00')
  expect(home.calls()).toBe(asked)
  await home.say('/new')
  expect(await home.say('hello')).toBe('fine')
})

it('C33: with ask an owner lets the session cost more, by the command that the line names', async () => {
  const home = await household('ask')
  const line = await home.untilStopped()
  expect(line).toContain('May it cost more? My owner says so with /maxcost 2.00')
  expect(await home.say('/maxcost 2.00')).toContain('may cost $2.00 in all')
  expect(await home.say('once more')).toBe('fine')
  await home.say('/maxcost inherit')
  expect(await home.say('and now?')).toContain('its cap of $1.00')
})

it('C33: with warn the session is told once, and continues', async () => {
  const home = await household('warn')
  expect(await home.untilStopped()).toBeUndefined()
  expect(home.calls()).toBe(9)
  expect(home.said('Of what this conversation may cost, $')).toBe(1)
})

it('C33: a client reads the code, and a session that gets the id of a deleted one begins anew', async () => {
  const { sessions } = (await household()).daemon.operator
  const post = () => sessions.post('cli:notes', { text: 'hello' })
  let answer = await post()
  for (let no = 0; no < 9 && answer.status === 'ok'; no++) answer = await post()
  expect(answer).toMatchObject({ status: 'error', error: expect.stringContaining('budget') })
  expect(await sessions.post('cli:other', { text: 'hello' })).toMatchObject({ status: 'ok' })
  await sessions.delete('cli:notes')
  for (let no = 0; no < 3; no++) expect(await post()).toMatchObject({ status: 'ok' })
})
