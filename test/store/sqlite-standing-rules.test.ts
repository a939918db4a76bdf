import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { addOldSession } from './old-sessions.ts'
import { sessionDraft } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === 'rules-of-agents'),
)

/** Two rules are on record, of one of which the question is; returns code and agent of those that are left. */
async function upgraded(...agents: readonly string[]): Promise<readonly string[]> {
  const path = join(tempFolder(), 'store.db')
  const old = await openSqliteStore({ path, clock: systemClock, migrations: BEFORE })
  const drafts = agents.map((agent, at) => sessionDraft(at, { agentId: toAgentId(agent) }))
  await old.close()
  for (const draft of drafts) addOldSession(path, draft)
  withDatabase(path, (database) => {
    for (const code of ['known', 'older'])
      database.prepare("INSERT INTO standing_rules VALUES (?, 'pay', NULL, 'owner', 'ada', 1)").run(code)
    database
      .prepare(
        `INSERT INTO approvals (code, turn_id, call_id, trace_id, session_id, tool, args, reply, asked_at, state)
          VALUES ('known', 'turn_1', 'call_1', 'tr_1', ?, 'pay', '{}', '{}', 1, 'used')`,
      )
      .run(drafts.at(-1)?.id)
  })
  const store = await openSqliteStore({ path, clock: systemClock })
  const rules = await store.read.standingRules.all()
  await store.close()
  return rules.map(({ code, agent }) => `${code} ${agent}`)
}

it('an older database: a standing rule is for the agent that has asked, while that is known', async () => {
  expect(await upgraded('main')).toEqual(['known main', 'older main'])
  expect(await upgraded('main', 'work')).toEqual(['known work'])
})
