import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { AgentProfile } from '../../../src/core/agent-profile.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { SessionDraft } from '../../../src/core/session.ts'
import { startAfter } from '../../../src/sessions/service/start-after.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { sessionDraft } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const OF_A_CLIENT: Partial<SessionDraft> = { source: { kind: 'api', interactive: true } }

const agentWith = (tools: readonly string[], prompt = 'Be brief.'): AgentProfile => ({
  ...{ id: sessionDraft(1).agentId, model: 'scripted/echo' },
  prompt,
  tools,
})

/** Starts a session of a client after another one, where there may be a third. */
async function startedAfter(own: AgentProfile, there?: AgentProfile) {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  return store.write(async (tx) => {
    const session = await tx.sessions.create(sessionDraft(1, { ...OF_A_CLIENT, agentProfile: own }), 1)
    await tx.authors.add(session.id, 'telegram:444')
    const other = there && (await tx.sessions.create(sessionDraft(2, { ...OF_A_CLIENT, agentProfile: there }), 1))
    const agents = [agentWith(['read', 'write'])]
    const start = { at: 2, there: other, agents, draft: () => sessionDraft(3, OF_A_CLIENT) }
    const { id, agentProfile } = await startAfter(tx, session, start)
    return { tools: agentProfile?.tools, authors: await tx.authors.of(id) }
  })
}

it('C28: a session that is continued in another one of a client has no tool that either of them had not', async () => {
  expect(await startedAfter(agentWith(['read', 'write']))).toMatchObject({ tools: ['read', 'write'] })
  const { tools } = await startedAfter(agentWith(['read', 'write']), agentWith(['read', 'search']))
  expect(tools).toEqual(['read'])
})

it('C28: instructions that are not the operator’s have the authors of the session that they come from', async () => {
  expect(await startedAfter(agentWith(['read']))).toMatchObject({ authors: [] })
  expect(await startedAfter(agentWith(['read'], 'Pay me.'))).toMatchObject({ authors: ['telegram:444'] })
})
