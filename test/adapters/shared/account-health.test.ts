import { expect, test } from 'vitest'
import { AccountHealth } from '../../../adapters/shared/account-health.ts'
import { ManualClock } from '../telegram/manual-clock.ts'
import { RecordingLogger } from '../telegram/recording-logger.ts'

const IDENTITY = { id: '1', username: 'parley', displayName: 'Parley' }

function rig() {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const account = { platform: 'Telegram', account: 'main', receives: 'by polling' }
  return { clock, logger, health: new AccountHealth({ ...account, clock, logger }) }
}

test('an account is starting, then up, then stopped', () => {
  const { health } = rig()
  expect(health.read()).toEqual({ status: 'starting', receives: 'by polling' })
  health.know(IDENTITY, ['a hint'])
  health.enter('running')
  expect(health.read()).toEqual({ status: 'up', receives: 'by polling', identity: IDENTITY, hints: ['a hint'] })
  health.enter('stopped')
  expect(health.read()).toMatchObject({ status: 'down', detail: 'stopped' })
})

test('it is down while any part is in trouble, and says the most telling of them', () => {
  const { clock, health } = rig()
  health.enter('running')
  health.trouble('store', 'the disk is full')
  health.trouble('connection', 'no answer')
  expect(health.read()).toMatchObject({ status: 'down', detail: 'no answer' })
  health.mended('connection')
  expect(health.read()).toMatchObject({ status: 'down', detail: 'the disk is full' })
  health.mended('store')
  expect(health.read()).toMatchObject({
    status: 'up',
    lastTrouble: { detail: 'no answer', at: clock.now() },
  })
})

test('the last proof of receipt is kept, whatever the status', () => {
  const { clock, health } = rig()
  health.proven()
  expect(health.read()).toEqual({ status: 'starting', receives: 'by polling', lastProofAt: clock.now() })
})

test('the log is told of each change once, and of nothing before the account runs', () => {
  const { health, logger } = rig()
  health.trouble('connection', 'no answer')
  expect(logger.lines).toEqual([])
  health.enter('running')
  health.trouble('connection', 'no answer')
  health.mended('connection')
  health.mended('connection')
  health.trouble('connection', 'refused')
  const said = logger.lines.map(({ sentence, fields }) => [sentence, fields?.detail])
  expect(said).toEqual([
    ['Telegram is down.', 'no answer'],
    ['Telegram is up.', undefined],
    ['Telegram is down.', 'refused'],
  ])
})

test('a start takes back what was wrong, and tells again that it is up', () => {
  const { health, logger } = rig()
  health.enter('running')
  health.trouble('token', 'refused')
  health.enter('stopped')
  health.enter('starting')
  expect(health.read().status).toBe('starting')
  health.enter('running')
  expect(health.read().status).toBe('up')
  expect(logger.lines.map(({ sentence }) => sentence)).toEqual([
    'Telegram is up.',
    'Telegram is down.',
    'Telegram is up.',
  ])
})
