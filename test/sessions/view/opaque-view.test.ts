import { describe, expect, it } from 'vitest'
import { emptied } from '../../../src/core/emptied.ts'
import { EMPTY_VIEW, extendView, requestMessages } from '../../../src/sessions/view/model-view.ts'
import { eventLog } from '../../fakes/session-events.ts'

const LIMITS = { turns: 3, dropTurns: 2, contextMessages: 2, contextCharacters: 100 }

describe('opaque fields of steps', () => {
  const opaque = { model: 'anthropic/m', tokens: 9, data: [{ type: 'thinking', thinking: 'hm', signature: 's' }] }
  const thinking = () => {
    const log = eventLog()
    log.user('think')
    log.started('t1')
    const calls = [{ callId: 'a', tool: 'clock', args: {} }]
    const usage = { input: 1, output: 1 }
    log.add({ type: 'assistant_step', data: { text: '', model: 'anthropic/m', usage, calls, opaque } }, 't1')
    return log
  }
  const messages = ({ events }: ReturnType<typeof eventLog>) =>
    requestMessages(extendView(EMPTY_VIEW, events, 'direct', LIMITS), 'direct').messages
  const shown = (log: ReturnType<typeof eventLog>) => JSON.stringify(messages(log))

  it('C19: a turn that continues has them with the step they came with, as they were written', () => {
    const log = thinking()
    const step = { role: 'assistant', text: '', calls: [{ id: 'a', name: 'clock', args: {} }], opaque }
    expect(messages(log).at(-1)).toEqual(step)
    log.result('t1', 'a')
    expect(messages(log).at(-2)).toEqual(step)
  })

  it.each<[string, (log: ReturnType<typeof eventLog>) => void]>([
    ['answered', (log) => log.answered('t1', 'late')],
    ['failed', (log) => log.failed('t1')],
    ['was stopped', (log) => log.cancelled('t1')],
    ['came from elsewhere', (log) => log.add({ type: 'history_taken_over', data: { from: 's' as never, events: 3 } })],
    ['was not asked', (log) => log.unasked('t1')],
  ])('C27: a turn that %s has none in a later request', (_, ends) => {
    const log = thinking()
    log.result('t1', 'a')
    expect(shown(log)).toContain('signature')
    ends(log)
    log.user('next')
    log.started('t2')
    expect(shown(log)).toContain('next')
    expect(shown(log)).not.toMatch(/opaque|signature|hm/)
  })

  it('S41: a step that is forgotten while its turn runs has none', () => {
    const log = thinking()
    const [step] = log.events.slice(-1)
    if (step) log.events.splice(-1, 1, { ...step, ...emptied(step), forgotten: true })
    expect(shown(log)).not.toMatch(/opaque|signature|hm/)
  })
})
