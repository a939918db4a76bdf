import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { catalogue } from '../../adapters/index.ts'
import { DEFAULT_PROMPT } from '../../src/config/build-agents.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { traitsOf } from '../../src/config/schema.ts'
import { createChannels } from '../../src/core/channel-traits.ts'
import type { PeerKind, PeerSetup } from '../../src/core/peer-setup.ts'
import { readPeer } from '../../src/imports/read-peer.ts'
import { checkTiming } from '../../src/schedule/check-cron.ts'
import { Database } from '../../src/store/engines/sqlite-driver.ts'

/** Tokens that have the form of each platform, and that no line may show. */
export const TOKENS = {
  telegram: '8123004411:AAHcanary-telegram-token-0123456789ab',
  discord: 'MTE4canary0000discord0000.Gx1abc.canary-discord-token-0123456789abcd',
  slackBot: 'xoxb-90210-90211-canarySlackBot',
  slackApp: 'xapp-1-A0TCANARY-90212-canaryslackapp',
  anthropic: 'sk-ant-api03-canary-key',
  openrouter: 'sk-or-v1-canary-key',
} as const

/** Ids that are no examples. */
export const IDS = {
  ada: '418300271',
  bob: '529411382',
  eve: '630522493',
  guild: '418300271993',
  group: '-1001830027144',
}

export type Files = Readonly<Record<string, string>>

export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-peer-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function peerFolder(files: Files): string {
  const folder = temporary()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

/** Makes a database in a folder by these statements. */
export function database(folder: string, name: string, statements: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  const made = new Database(join(folder, name))
  made.exec(statements)
  made.close()
}

const rules = {
  channels: createChannels(traitsOf(catalogue)),
  prompt: DEFAULT_PROMPT,
  checkTiming: (timing: { readonly cron: string; readonly timezone: string }) => Promise.resolve(checkTiming(timing)),
}

/** Reads the folder of a program where these variables are set. */
export function read(kind: PeerKind, folder: string, env: Readonly<Record<string, string>> = {}): Promise<PeerSetup> {
  return readPeer(kind, folder, { ...rules, variable: (name) => env[name] })
}

/** The set-up as JSON, with the lines: no secret may be in it. */
export function shown(setup: PeerSetup): string {
  return JSON.stringify(setup)
}

/**
 * Writes a set-up as `parley init` does, with its secrets and files, and reads it as `parley config check` does. Returns
 * the configuration and the warnings.
 */
export async function checked(setup: PeerSetup, env: Readonly<Record<string, string>> = {}) {
  const folder = temporary()
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text, { mode: 0o600 })
  }
  for (const { file, read: readSecret } of setup.secrets) if (file !== undefined) write(file, readSecret())
  for (const { name, text } of setup.files) write(name, text)
  write('parley.yaml', stringify(setup.config))
  const { config } = await loadConfig({
    ...{ path: 'parley.yaml', env: { HOME: folder, ...env }, cwd: folder, catalogue, use: 'check' },
    checkTiming: rules.checkTiming,
  })
  return config
}
