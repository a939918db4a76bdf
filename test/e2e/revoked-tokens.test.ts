import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { NewToken } from '../../src/core/operate-tokens.ts'
import type { Script } from '../../src/rehearsal/anthropic/script.ts'
import { lastUserText, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { owner } from '../fakes/routing-policy.ts'
import { startApiHouse } from './api-house.ts'
import { toolResult } from './obedient.ts'

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions'] }]

/** Reads the session that is named behind "read", once the gate is open. */
const reading =
  (gate: ReturnType<typeof createGate>): Script =>
  (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`it says: ${result}`)
    const [, sessionKey] = /read (\S+)/.exec(lastUserText(request)) ?? []
    if (sessionKey === undefined) return textReply('heard')
    return {
      blocks: [{ type: 'tool_use', name: 'sessions_history', input: { sessionKey } }],
      holds: [{ beforeDelta: 0, gate }],
    }
  }

it.each<[string, NewToken, string, object]>([
  ['an owner', { owner: true, scopes: ['sessions:read', 'sessions:write'] }, 'api:desk', {}],
  ['a person', { namespace: 'api', scopes: ['sessions:read', 'sessions:write'] }, 'api:desk', { sender: 'api:ada' }],
])('S19, S42: what came with a token of %s has nobody’s authority once it is revoked', async (_, token, at, said) => {
  const gate = createGate()
  const house = await startApiHouse({
    ...{ script: reading(gate), streaming: false, config: { agents } },
    routing: { people: [owner('ada', 'telegram:111', 'api:ada')] },
  })
  const { sessions, tokens } = house.daemon.operator
  const after = house.telegram.ledger.mark()
  house.telegram.world.say({ from: 111, text: 'my secret is bluebird' })
  await house.telegram.ledger.nextFromBot('sent', { after })
  const { id, headers } = await house.bearer(token)
  const body = { text: 'read telegram:direct:111', ...said }
  const answer = house.ask(`/v1/sessions/${at}/messages`, { headers, body })
  await gate.reached
  await tokens.revoke(id)
  gate.release()
  await answer.catch(() => undefined)
  await expect.poll(async () => JSON.stringify(await sessions.history(at, { limit: 20 }))).toContain('it says')
  expect(JSON.stringify(await sessions.history(at, { limit: 20 }))).not.toContain('bluebird')
})
