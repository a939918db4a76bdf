import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { patient } from './doctor-house.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'config/troubleshooting.md'), 'utf8')
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** The texts of the program, without what only joins them: `a` + `b`, `${…}`. */
const texts = ['src', 'adapters']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/rehearsal|migrations/.test(name))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  )
  .join('\n')
  .replace(/['`] \+\s*['`]/g, '')

/** The parts of a quoted line that stand in the program as they are. */
const literal = (line: string): string[] =>
  line
    .split(/…|: |; /)
    .map((part) => part.replace(/^[.,\s]+|[.,\s]+$/g, ''))
    .filter((part) => part.length > 4)

describe('config/troubleshooting.md', () => {
  const quoted = [...PAGE.matchAll(/^> (.+)$/gm)].map(([, line = '']) => line)
  const commands = [...new Set([...PAGE.matchAll(/`(parley [a-z][^`]*)`/g)].map(([, one = '']) => oneLine(one)))]

  it('is short, and has lines to look for', () => {
    expect(PAGE.split('\n').length).toBeLessThanOrEqual(150)
    expect(quoted.length).toBeGreaterThan(20)
  })

  it.each(quoted)('the program can print: %s', (line) => {
    const parts = literal(line)
    expect(parts.length).toBeGreaterThan(0)
    for (const part of parts) expect(texts.includes(part), part).toBe(true)
  })

  it.each(commands)('the program takes: %s', { timeout: 120_000 }, async (command) => {
    const argv = command.split(' ').slice(1)
    const words = argv.filter((word) => !/^[<-]/.test(word))
    const one = patient({ http: { port: 1 }, agents: [{ id: 'main', model: 'scripted/echo' }] })
    const { code, out, err } = await one.run(...argv.filter((word) => !word.startsWith('<')), '--help')
    expect([code, err]).toEqual([0, ''])
    // Help of the command itself, and none of what it stands below.
    expect(out).toContain(
      `Usage: parley ${words
        .filter((word) => word !== 'last')
        .slice(0, 1)
        .join(' ')}`,
    )
    for (const option of argv.filter((word) => word.startsWith('--'))) expect(out).toContain(option)
  })
})
