import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { printSchedules } from '../../src/cli/commands/schedule.ts'
import { printTokens } from '../../src/cli/commands/token.ts'
import { styleFor } from '../../src/cli/print/style.ts'
import type { Namespace } from '../../src/core/caller.ts'
import type { TokenReport } from '../../src/core/operate-tokens.ts'
import { SCOPES } from '../../src/core/token.ts'
import { sampleSchedule } from '../fakes/operator.ts'

const bare = styleFor({ isTTY: false, env: {} })
const AT = Date.UTC(2026, 10, 21, 14, 3, 22)
const now = AT + 3 * 86_400_000
const token: TokenReport = {
  ...{ id: '0123456789ab', namespace: 'web:alice' as Namespace, scopes: ['sessions:read'], label: 'kitchen' },
  createdAt: AT,
} as TokenReport

test('token list says what each is for below it, and is no wider than the terminal', () => {
  const { namespace: _, ...whole } = token
  const owner = { ...whole, scopes: SCOPES, expiresAt: now + 86_400_000, usedAt: now - 240_000 }
  const lines = printTokens([token, owner, { ...token, revokedAt: now, label: '' }], { now, width: 80 }, bare)
  expect(lines).toEqual([
    'TOKEN             STATE               USED       NAMESPACE  LABEL',
    'ply_0123456789ab  valid               never      web:alice  kitchen',
    '  made 2026-11-21 for sessions:read',
    'ply_0123456789ab  until 2026-11-25    4 min ago  (owner)    kitchen',
    '  made 2026-11-21 for sessions:read sessions:write chat hooks nodes notify',
    '  operate:read operate:write metrics tokens',
    'ply_0123456789ab  revoked 2026-11-24  never      web:alice',
    '  made 2026-11-21 for sessions:read',
  ])
})

test('no line of a table is wider than the terminal, however long a label, a place or a name is', () => {
  const long = 'a long label '.repeat(20)
  const schedule = { ...sampleSchedule, deliverTitle: `${'x'.repeat(100)} ${long}`, last: { slotAt: AT, state: long } }
  for (const line of [
    ...printTokens([{ ...token, label: long }], { now, width: 80 }, bare),
    ...printSchedules([schedule], 80, bare),
  ])
    expect([line, stringWidth(line) <= 80]).toEqual([line, true])
})
