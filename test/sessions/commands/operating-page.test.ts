import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SESSION_SETTINGS, SETTING_NAMES } from '../../../src/core/session-settings.ts'
import { type SessionCommandDeps, sessionCommands } from '../../../src/sessions/commands/index.ts'

test('config/operating.md lists every command in chat, those of settings by their page', () => {
  const page = readFileSync(new URL('../../../config/operating.md', import.meta.url), 'utf8')
  const [, listed = ''] = /^In chat: `([^`]+)`, and one for each$/m.exec(page) ?? []
  // No command asks for anything before it runs.
  const commands = sessionCommands({ operator: {}, why: {} } as SessionCommandDeps).map(({ name }) => `/${name}`)
  const settings = SETTING_NAMES.map((name) => `/${SESSION_SETTINGS[name].command.name}`)

  expect([...listed.split(' '), ...settings].sort()).toEqual(commands.sort())
})
