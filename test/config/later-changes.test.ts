import { expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { laterChanges } from '../../src/config/later-changes.ts'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { policy } from '../fakes/routing-policy.ts'

const running: Config = {
  agents: [{ id: toAgentId('main'), model: 'scripted/echo', prompt: '', tools: ['time'] }],
  models: { anthropic: { kind: 'anthropic' as const, apiKey: new Secret('one') } },
  channels: { telegram: { accounts: { default: { token: 'one' } } } },
  down: [],
  routing: policy(),
  session: { queue: { max: 100, busy: 'queue' }, publicTurns: { atOnce: 8, perPerson: 1, waiting: 16 }, staleDays: 3 },
  sessionTools: { agents: [], inGroups: 'here' },
  schedules: [],
  store: { path: '/a/parley.db', keepRefusedDays: 30 },
  logging: { level: 'info', pretty: true },
  scriptFolder: '/a',
  dataDir: '/a',
  warnings: [],
}

test('nothing is named where nothing has changed, and nothing that a reload takes over', () => {
  const models = { anthropic: { kind: 'anthropic' as const, apiKey: new Secret('one') } }
  expect(laterChanges(running, { ...structuredClone({ ...running, models: {} }), models })).toEqual([])
  expect(laterChanges(running, { ...running, routing: policy({ wakeWords: ['parley'] }), warnings: ['x'] })).toEqual([])
})

test('what takes effect at the next start is named as it stands in the file, without a value', () => {
  const next: Config = {
    ...running,
    agents: [{ ...running.agents[0], tools: ['time', 'sessions'] } as Config['agents'][number]],
    models: { anthropic: { kind: 'anthropic' as const, apiKey: new Secret('two') } },
    channels: { telegram: { accounts: { default: { token: 'two' } } } },
    down: [{ channel: 'slack', account: 'default', reason: 'no token' }],
    session: { ...running.session, publicTurns: { atOnce: 4, perPerson: 1, waiting: 16 } },
    sessionTools: { agents: [], inGroups: 'asker' },
    store: { path: '/b/parley.db', keepRefusedDays: 30 },
  }
  expect(laterChanges(running, next)).toEqual([
    'agents',
    'channels.slack.accounts.default',
    'channels.telegram',
    'models.anthropic',
    'session.publicTurns',
    'store.url',
    'tools.sessions.inGroups',
  ])
})
