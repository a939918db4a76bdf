import { describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/core/errors.ts'
import type { SessionId, TurnId } from '../../../src/core/ids.ts'
import { NO_USAGE } from '../../../src/core/model.ts'
import type { OutboundMessage } from '../../../src/core/outbound.ts'
import type { TurnResult } from '../../../src/core/turn.ts'
import { createOutageNotices } from '../../../src/sessions/turns/outage-notices.ts'
import type { StartedTurn } from '../../../src/sessions/turns/started-turn.ts'
import { direct } from '../../fakes/dispatch.ts'

const line = { text: 'overloaded' } as OutboundMessage

function conversation() {
  let now = 1_000
  const notices = createOutageNotices({ now: () => now })
  let turns = 0
  const end = (result: TurnResult, { session = 'telegram:a', chat = 1, id = `turn_${++turns}` } = {}) =>
    notices(
      {
        id: id as TurnId,
        session: { id: session as SessionId } as StartedTurn['session'],
        reply: { address: direct(`${chat}`) },
      },
      result,
      line,
    )
  const pass = (ms: number): void => {
    now += ms
  }
  return { end, pass }
}

function failed(code: ErrorCode, shown?: string, model?: string): TurnResult {
  const rest = { ...(shown === undefined ? {} : { shown }), ...(model === undefined ? {} : { model }) }
  return { kind: 'failed', code, cause: undefined, usage: NO_USAGE, steps: 0, ...rest }
}

const answered: TurnResult = { kind: 'final', text: 'x', model: 'm', usage: NO_USAGE, steps: 1 }

describe('the notice of an outage', () => {
  it('each conversation is told once, and again after five minutes', () => {
    const { end, pass } = conversation()
    const said = [end(failed('model_overloaded')), end(failed('model_overloaded')), end(failed('model_overloaded'))]
    expect(said).toEqual([line, undefined, undefined])
    expect(end(failed('model_overloaded'), { session: 'telegram:b' })).toBe(line)
    expect(end(failed('model_overloaded'), { chat: 2 })).toBe(line)
    pass(299_999)
    expect(end(failed('model_overloaded'))).toBeUndefined()
    pass(1)
    expect(end(failed('model_overloaded'))).toBe(line)
  })

  it.each([
    ['of another kind', 'model_auth', 'a/one'],
    ['of another kind that passes', 'model_overloaded', 'a/one'],
    ['of another model', 'model_failed', 'a/two'],
    ['of another server', 'model_failed', 'b/one'],
  ] as const)('a failure %s is told, and the first is not told again behind it', (_name, code, model) => {
    const { end } = conversation()
    const said = (
      [
        ['model_failed', 'a/one'],
        [code, model],
        [code, model],
        ['model_failed', 'a/one'],
      ] as const
    ).map(([one, of]) => end(failed(one, undefined, of)))
    expect(said).toEqual([line, line, undefined, undefined])
    end(answered)
    expect(end(failed('model_failed', undefined, 'a/one'))).toBe(line)
  })

  it('an answer ends the outage', () => {
    const { end } = conversation()
    end(failed('model_stalled'))
    expect(end(answered)).toBe(line)
    expect(end(failed('model_stalled'))).toBe(line)
  })

  it('a failure of one request is always told, and so is an answer that broke off', () => {
    const { end } = conversation()
    end(failed('model_overloaded'))
    expect(end(failed('model_empty'))).toBe(line)
    expect(end(failed('internal'))).toBe(line)
    expect(end(failed('model_overloaded', 'Half an ans'))).toBe(line)
  })

  it('an end that is stored in two attempts is told by both', () => {
    const { end } = conversation()
    expect(end(failed('model_overloaded'), { id: 'turn_x' })).toBe(line)
    expect(end(failed('model_overloaded'), { id: 'turn_x' })).toBe(line)
  })

  it('a clock that was set back does not keep it silent', () => {
    const { end, pass } = conversation()
    end(failed('model_overloaded'))
    pass(-500)
    expect(end(failed('model_overloaded'))).toBe(line)
  })
})
