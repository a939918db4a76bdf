import { expect, test } from 'vitest'
import { createGuard } from '../../../adapters/shared/guard.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { RecordingLogger } from '../telegram/recording-logger.ts'

test('what one event makes our reading throw is counted and told in one line, and the next is handled', () => {
  const sink = new RecordingSink()
  const logger = new RecordingLogger()
  const guard = createGuard({ sink, logger, account: 'main' })
  const handled: string[] = []
  const mistake = new TypeError('no such property')
  guard('message', () => {
    throw mistake
  })
  guard('message', () => handled.push('the next'))
  expect(sink.dropped).toEqual(['unreadable:message'])
  expect(handled).toEqual(['the next'])
  const fields = { account: 'main', kind: 'message', err: mistake }
  expect(logger.lines).toEqual([{ level: 'warn', sentence: 'An event could not be handled and was let go.', fields }])
})
