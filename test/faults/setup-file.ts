import { appendFileSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { telegramAccountSchema } from '../../adapters/telegram/config.ts'
import type { Config } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'

/** What the test build reads: the configuration before channel settings are parsed and secrets wrapped. Plain JSON. */
export interface SetupFile {
  readonly config: Omit<Config, 'models' | 'channels'>
  readonly telegram: z.input<typeof telegramAccountSchema>
  readonly anthropic: { readonly apiKey: string; readonly baseUrl: string }
  /** Where the probe tools write a line at each execution. */
  readonly probeFile: string
  readonly socketPath: string
}

/** One execution of a probe tool. */
export interface ProbeLine {
  readonly class: string
  readonly turnId: string
  readonly callId: string
}

export function readSetup(file: string): SetupFile {
  return JSON.parse(readFileSync(file, 'utf8')) as SetupFile
}

export function configOf({ config, telegram, anthropic: { apiKey, baseUrl } }: SetupFile): Config {
  return {
    ...config,
    models: { anthropic: { apiKey: new Secret(apiKey), baseUrl } },
    channels: { telegram: { accounts: { default: telegramAccountSchema.parse(telegram) } } },
  }
}

/** Synchronous, so that an execution that happened is on record however the process ends. */
export function recordProbe(file: string, line: ProbeLine): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

export function readProbes(file: string): ProbeLine[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ProbeLine)
}
