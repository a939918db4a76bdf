import { expect, it } from 'vitest'
import { withoutPrinting } from '../../src/agent/models/anthropic.ts'
import { silentLogger } from '../../src/core/logger.ts'

it('what a library prints while it is called goes to the log, each text once, and nothing else is touched', () => {
  const { warn } = console
  const printed: unknown[] = []
  const logged: unknown[] = []
  console.warn = (...words: readonly unknown[]) => void printed.push(words)
  const logger = { ...silentLogger, warn: (_: string, fields?: object) => void logged.push(fields) }
  try {
    const call = (): string => {
      console.warn('The model x is deprecated', 7)
      return 'made'
    }
    expect([withoutPrinting(call, logger), withoutPrinting(call, logger)]).toEqual(['made', 'made'])
    expect(() =>
      withoutPrinting(() => {
        throw new Error('refused')
      }, logger),
    ).toThrow('refused')
    console.warn('of somebody else')
  } finally {
    console.warn = warn
  }
  expect(logged).toEqual([{ text: 'The model x is deprecated 7' }])
  expect(printed).toEqual([['of somebody else']])
})
