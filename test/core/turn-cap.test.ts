import { describe, expect, it } from 'vitest'
import type { SessionKind, SourceKind } from '../../src/core/session.ts'
import { type TurnCaps, turnCapOf } from '../../src/core/turn-cap.ts'

function capOf(caps: TurnCaps, source: SourceKind, kind: SessionKind = 'other'): number | undefined {
  return turnCapOf(caps, { source: { kind: source, interactive: true }, kind })
}

describe('the cap on turns', () => {
  it.each(['api', 'cli', 'web'] as const)(
    'C9: sessions of %s have 50 turns by default, and for 0 or less',
    (source) => {
      expect([{}, { [source]: 0 }, { [source]: -3 }].map((caps) => capOf(caps, source))).toEqual([50, 50, 50])
      expect(capOf({ [source]: 7 }, source)).toBe(7)
    },
  )

  it('C9: chats and schedules have none unless it is set', () => {
    expect([capOf({}, 'channel'), capOf({ chat: 0 }, 'channel'), capOf({}, 'schedule')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect([capOf({ chat: 9 }, 'channel'), capOf({ schedule: 3 }, 'schedule')]).toEqual([9, 3])
  })

  it('C9: the main session counts as a chat, wherever it began', () => {
    expect([capOf({ cli: 5 }, 'cli', 'main'), capOf({ chat: 9 }, 'cli', 'main')]).toEqual([undefined, 9])
  })
})
