import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { startHousehold } from './household.ts'

const main = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'You are calm.', tools: ['time'] }

it.each(['{broken', '5', '[]', '{}', '{"id":"main","model":"m","prompt":"p","tools":[null]}'])(
  'C31: an agent that a session keeps and that reads %j is refused by name, and no other session is',
  async (profile) => {
    const home = await startHousehold({ script: () => textReply('fine'), config: { agents: [main] } })
    const post = (name: string) => home.daemon.operator.sessions.post(name, { text: 'hello' })
    await Promise.all([post('api:bad'), post('api:good')])
    await home.daemon.stop()
    withDatabase(join(home.dataDir, 'parley.db'), (database) =>
      database.prepare("UPDATE sessions SET agent_profile = ? WHERE id = 'api:bad'").run(profile),
    )
    await home.restart()
    await expect(post('api:bad')).rejects.toMatchObject({ code: 'unreadable' })
    expect(await post('api:good')).toMatchObject({ reply: 'fine' })
  },
)

it.each(['{broken', '5', '{}', '{"answer":false,"because":{}}'])(
  'C31: a verdict of a pre-check that reads %j takes nothing from an explanation but itself',
  async (verdict) => {
    const { daemon, dataDir } = await startHousehold({ script: () => textReply('fine'), config: { agents: [main] } })
    const { traceId } = await daemon.operator.sessions.post('api:a', { text: 'hello' })
    withDatabase(join(dataDir, 'parley.db'), (database) =>
      database.prepare('UPDATE turns SET precheck = ?').run(verdict),
    )
    const [report] = await daemon.operator.why(traceId)
    expect(report).toMatchObject({ outcome: 'answered' })
    expect(report).not.toHaveProperty('precheck')
  },
)
