import { expect, it } from 'vitest'
import { heldWords } from '../../src/core/forget-words.ts'
import type { ForgetReceipt } from '../../src/core/forgetting.ts'

const held = (platforms: ForgetReceipt['platforms']): string | undefined =>
  heldWords({ platforms, backups: [], exports: [] } as unknown as ForgetReceipt, false)[0]

it.each([
  [{ Telegram: 'messages' }, 'Telegram still has messages.'],
  [{ Telegram: 'messages', Slack: 'messages' }, 'Telegram and Slack still have messages.'],
  [{ A: 'messages', B: 'messages', C: 'messages' }, 'A, B and C still have messages.'],
])('S41: platforms that hold the same are named in one line: %j', (platforms, words) => {
  expect(held(platforms)).toBe(words)
})
