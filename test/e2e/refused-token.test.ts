import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { telegramAccountSchema } from '../../adapters/telegram/config.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { startDaemon } from '../../src/daemon/start.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { household } from '../fakes/routing-policy.ts'
import { AwaitedLog } from './awaited-log.ts'

it('a wrong token: the channel is down with a clear line, the daemon runs, and no token is in the log', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-'))
  const telegram = await startTelegramServer()
  onTestFinished(async () => {
    await telegram.close()
    rmSync(dataDir, { recursive: true })
  })
  const token = '7000001:not-the-one'
  const account = telegramAccountSchema.parse({ token, apiRoot: telegram.apiRoot })
  const logger = new AwaitedLog()
  const daemon = await startDaemon({
    config: {
      agents: [{ id: toAgentId('main'), model: 'scripted/echo', prompt: '', tools: [] }],
      models: {},
      channels: { telegram: { accounts: { default: account } } },
      routing: household(),
      session: { queue: { max: 100, busy: 'queue' } },
      store: { path: join(dataDir, 'parley.db') },
      logging: { level: 'info', pretty: false },
      scriptFolder: dataDir,
      dataDir,
      down: [],
      schedules: [],
      warnings: [],
    },
    logger,
    version: 'test',
    plugins: catalogue,
    socketPath: join(dataDir, 'parley.sock'),
  })
  await daemon.settled()
  const { channels, claims } = await daemon.operator.status()
  expect(channels).toMatchObject([{ status: 'down', detail: expect.stringMatching(/refuses the token.*@BotFather/) }])
  expect(claims).toEqual([])
  const { fields } = await logger.line('A channel is down')
  expect(fields).toMatchObject({ channel: 'telegram', account: 'default', retryInMs: 60_000 })
  await daemon.stop()
  expect(JSON.stringify(logger.lines)).not.toContain('not-the-one')
})
