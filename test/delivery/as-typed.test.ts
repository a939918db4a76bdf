import { expect, test } from 'vitest'
import type { TraceId } from '../../src/core/ids.ts'
import type { DeliveryClass } from '../../src/core/outbound.ts'
import { asTyped } from '../../src/delivery/plan-rows.ts'
import { anInbox, at, GROUP } from './rig.ts'

function typed(text: string, mark: string | undefined, as: DeliveryClass = 'control'): string {
  const message = { source: anInbox('1'), traceId: 'tr_1' as TraceId, address: at(GROUP), class: as, text }
  return asTyped(message, mark).text
}

const CARD = 'May I use `run`?\n\n```\n{"line":"`/approve x`"}\n```\n\n`/approve x1 here` lets me, `/deny x1` refuses.'

test.each(['control', 'notice'] as const)('a %s names commands as they are typed there, not what it quotes', (as) => {
  const text =
    'May I use `run`?\n\n```\n{"line":"`/approve x`"}\n```\n\n`!approve x1 here` lets me, `!deny x1` refuses.'
  expect(typed(CARD, '!', as)).toBe(text)
  expect(typed(CARD, undefined, as)).toBe(CARD)
})

test.each(['look in `/etc/hosts`', 'and/or `a`', 'a `/Path` and ` /x`'])('%j names no command', (text) => {
  expect(typed(text, '!')).toBe(text)
})

test.each(['reply', 'effect'] as const)('the words of a %s stay as a model wrote them', (as) => {
  expect(typed(CARD, '!', as)).toBe(CARD)
})
