import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { TELEGRAM, temporaryFolder } from './loading.ts'

const PAGE = await readFile(new URL('../../config/operating.md', import.meta.url), 'utf8')
/** That of a model that follows rules stands in a file of its own; those of other programs are not Parley's. */
const EXAMPLES = [...PAGE.matchAll(/```yaml\n(.*?)```/gs)]
  .map(([, text = '']) => text)
  .filter((text) => !/^(rules|scrape_configs|endpoints|rest_command):/.test(text))
  // The ids of examples are refused.
  .map((text) => text.replaceAll('1234567890', '7654321'))
const AROUND = {
  channels: TELEGRAM.trim(),
  people: 'people: { ada: { role: owner, ids: ["telegram:7001"] }, bob: { ids: ["telegram:7002"] } }',
}

test('operating.md has examples', () => {
  expect(EXAMPLES.length).toBeGreaterThan(6)
})

test.each(EXAMPLES)('an example of operating.md is valid:\n%s', async (text) => {
  const folder = temporaryFolder()
  for (const name of ['hooks/mask-numbers.mjs', 'own-tools/dice.ts']) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), '')
    chmodSync(join(folder, name), 0o755)
  }
  const around = Object.entries(AROUND).filter(([key]) => !new RegExp(`^${key}:`, 'm').test(text))
  writeFileSync(join(folder, 'parley.yaml'), [...around.map(([, line]) => line), text].join('\n'))
  const env = { HOME: folder, TOKEN: '5:a', OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', BRAVE_API_KEY: 'k' }
  const secrets = { CALENDAR_TOKEN: 'secret-of-the-calendar', ARCHIVE_SECRET: 'secret-of-the-archive' }
  const callers = { BUILD_SECRET: 'secret-of-the-build', GITHUB_SECRET: 'secret-of-the-hub-a' }
  await loadConfig({ path: 'parley.yaml', env: { ...env, ...secrets, ...callers }, cwd: folder, catalogue })
})
