import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { startHousehold } from './household.ts'

const agents = [
  { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You help with {{ctx.project}}.', tools: [] },
]

it('C30, C46: a session that begins keeps its variables, shows them in its first event and has them in its prompt', async () => {
  const home = await startHousehold({ script: () => textReply('fine'), config: { agents } })
  const post = (name: string, context?: Readonly<Record<string, string>>) =>
    home.daemon.operator.sessions.post(name, { text: 'hello', ...(context ? { context } : {}) })
  const systems = () => home.anthropic?.ledger.requests().map(({ system }) => JSON.stringify(system))

  await post('cli:bridge', { project: 'the bridge' })
  await post('cli:bridge')
  await post('cli:plain')
  expect(systems()?.map((system) => /You help with [^.]*\./.exec(system)?.[0])).toEqual([
    'You help with the bridge.',
    'You help with the bridge.',
    'You help with .',
  ])
  const { events } = await home.daemon.operator.sessions.history('cli:bridge', { limit: 200 })
  expect(events[0]).toMatchObject({ type: 'session:started', text: 'agent main, project: the bridge' })

  await expect(post('cli:bridge', { project: 'another' })).rejects.toThrow(/exists already/)
  const key = `sk-${'ant'}-abcdefghijklmnopqrst`
  await expect(post('cli:other', { note: key })).rejects.toThrow(/context\.note looks like a key/)
  await expect(home.daemon.operator.sessions.history('cli:other', { limit: 1 })).rejects.toThrow()

  const daemon = await home.restart()
  await daemon.operator.sessions.post('cli:bridge', { text: 'again' })
  expect(systems()?.at(-1)).toContain('You help with the bridge.')
})
