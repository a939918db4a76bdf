import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { errorCode, toError } from '../../src/core/errors.ts'

export const TELEGRAM = `channels: { telegram: { accounts: { default: { token: "\${env:TOKEN}" } } } }\n`
export const TOKEN = '5:AAcanary-of-the-token'

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

type Env = Readonly<Record<string, string | undefined>>

/** Loads a real file with this text, in a folder of its own; `${env:TOKEN}` is a token. */
export async function load(yaml: string, env: Env = {}, files: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  writeFileSync(join(folder, 'parley.yaml'), yaml)
  const loaded = await loadConfig({
    path: 'parley.yaml',
    env: { HOME: folder, TOKEN, ...env },
    cwd: folder,
    catalogue,
  })
  return { ...loaded, folder }
}

/** The message of the `config` error a file is refused with, the path of the file left out of it. */
export async function refusal(
  yaml: string,
  env: Env = {},
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  try {
    await load(yaml, env, files)
  } catch (error) {
    if (errorCode(error) !== 'config') throw error
    return toError(error).message.replaceAll(/\S*\/parley\.yaml/g, 'parley.yaml')
  }
  throw new Error('The file was accepted.')
}
