import { describe, expect, it } from 'vitest'
import { fallbackDescription } from '../../src/core/session.ts'

describe('fallback description', () => {
  it('S14: a short text is one line', () => {
    expect(fallbackDescription('  Plan\n\tthe   trip ')).toBe('Plan the trip')
  })

  it('S14: 80 characters stay, 81 become 77 and three dots', () => {
    expect(fallbackDescription('a'.repeat(80))).toBe('a'.repeat(80))
    expect(fallbackDescription('a'.repeat(81))).toBe(`${'a'.repeat(77)}...`)
  })

  it('S14: an emoji at the cut is left out, not halved', () => {
    expect(fallbackDescription(`${'a'.repeat(76)}😀${'b'.repeat(9)}`)).toBe(`${'a'.repeat(76)}...`)
    expect(fallbackDescription(`${'a'.repeat(75)}😀${'b'.repeat(9)}`)).toBe(`${'a'.repeat(75)}😀...`)
  })
})
