import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { applyChanges, changesFrom, openDraft, type SettingChange, textOf } from '../../src/config/draft.ts'

function changed(before: string, changes: readonly SettingChange[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-draft-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'parley.yaml')
  writeFileSync(file, before)
  const draft = openDraft(file, false)
  applyChanges(draft, changes)
  return textOf(draft)
}

const FILE = `\${file:discord-token}`
const OWN = `# my bot
people:
  ada: { role: owner,   ids: [telegram:111111112] }   # that is me


agents:
- id: main # the first
  tools: [time, web]
channels:
  telegram: { accounts: { default: { token: "\${env:TELEGRAM_BOT_TOKEN}" } } } # as @BotFather gives it
# the end
`

test('a setting that is changed in a configuration of a person leaves every other line as it was written', () => {
  const token: SettingChange = [['channels', 'discord', 'accounts', 'default', 'token'], FILE]
  const after = changed(OWN, [token])
  const added = `  discord:\n    accounts:\n      default:\n        token: ${FILE}\n`
  expect(after).toBe(OWN.replace('# the end', `${added}# the end`))
})

test('a value that is changed keeps the comment beside it, and so does everything around it', () => {
  const after = changed(OWN, [[['agents', 0, 'model'], 'ollama/qwen3']])
  expect(after).toBe(OWN.replace('web]', 'web]\n  model: ollama/qwen3'))
})

test('an empty block, and one with nothing but comments in it, takes settings and keeps the comments', () => {
  const before = 'agents: [{ id: main }]\nchannels:\n  #discord:\n  #  accounts: {}\nhttp: {}\n'
  const after = changed(before, [[['channels', 'telegram', 'accounts', 'default', 'token'], 'x']])
  expect(after).toContain('#discord:')
  expect(after).toContain('telegram:')
  expect(after).toContain('http: {}')
})

test('a place in which nothing can be set is named', () => {
  expect(() => changed('channels: [1]\n', [[['channels', 'telegram', 'accounts'], 'x']])).toThrow(
    'channels.telegram.accounts cannot be changed as the file is written; change it by hand.',
  )
})

test('no change is no change of the file, whatever its form', () => {
  expect(changed(OWN, [])).toBe(OWN)
})

test('settings of another program go where nothing stands, and into a new configuration', () => {
  const peer = { agents: [{ id: 'theirs' }], people: { bo: { ids: ['telegram:222222223'] } } }
  const fresh = openDraft('/nowhere/parley.yaml', false)
  applyChanges(fresh, changesFrom(peer, fresh))
  expect(textOf(fresh)).toContain('- id: theirs')
  expect(textOf(fresh)).not.toContain('channels')
  expect(changesFrom(peer, { document: fresh.document, before: '' })).toEqual([])
})
