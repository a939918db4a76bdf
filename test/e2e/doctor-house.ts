import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { DoctorReport, Finding } from '../../src/core/finding.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

export interface Examined {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A machine with one set-up of Parley, which the built program examines as a process of its own. */
export interface Patient {
  readonly folder: string
  readonly dataDir: string
  readonly database: string
  readonly file: string
  readonly env: Record<string, string>
  /** Runs any command. */
  run(...args: readonly string[]): Promise<Examined>
  /** Runs `parley doctor` for people. */
  doctor(...args: readonly string[]): Promise<Examined>
  /** Runs it for programs. */
  report(...args: readonly string[]): Promise<DoctorReport & { readonly code: number | null }>
  /** Starts the daemon; resolves once its channels have settled. */
  start(): Promise<ChildProcess>
  /** Starts the daemon once and ends it, so that there is a state folder with a database. */
  once(): Promise<void>
  /** Puts a program of the system into the path that answers so; `$*` are its arguments. */
  program(name: string, script: string): void
}

/** A recorded answer of a service manager that has no unit, and of one that was not started. */
export const NO_MANAGER =
  'echo "System has not been booted with systemd as init system (PID 1). Can\'t operate." >&2; exit 1'

const SECRET = /token|apiKey|signingSecret/i

/** `config` is what the file says; `node`: further arguments of Node, and the user as whom the program runs. */
export function patient(
  config: object,
  { node = [], uid }: { readonly node?: readonly string[]; readonly uid?: number } = {},
): Patient {
  const folder = mkdtempSync(join(tmpdir(), 'parley-doctor-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [bin, state] = [join(folder, 'bin'), join(folder, 'state')]
  const dataDir = join(state, 'parley')
  for (const one of [bin, state]) mkdirSync(one, { mode: 0o700 })
  mkdirSync(dataDir, { mode: 0o700 })
  const file = join(folder, 'parley.yaml')
  const env: Record<string, string> = {
    ...{ PATH: `${bin}:${process.env.PATH ?? ''}`, HOME: folder, XDG_STATE_HOME: state, PARLEY_CONFIG: file },
  }
  // Secrets stand in the environment, as they should.
  const refer = (key: string, value: unknown): unknown => {
    if (!SECRET.test(key) || typeof value !== 'string' || value.startsWith('$')) return value
    const name = `SECRET_${Object.keys(env).length}`
    env[name] = value
    return `\${env:${name}}`
  }
  writeFileSync(file, `${JSON.stringify(config, refer, 1)}\n`, { mode: 0o600 })
  const begin = (args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [...node, MAIN, ...args], {
      env,
      cwd: folder,
      ...(uid === undefined ? {} : { uid, gid: uid }),
    })
  const run = async (...args: readonly string[]): Promise<Examined> => {
    const child = begin(args)
    const said = { out: '', err: '' }
    child.stdout?.on('data', (text) => {
      said.out += text
    })
    child.stderr?.on('data', (text) => {
      said.err += text
    })
    const [code] = await once(child, 'close')
    return { code, ...said }
  }
  const doctor = (...args: readonly string[]): Promise<Examined> => run('doctor', ...args)
  const start = async (): Promise<ChildProcess> => {
    const child = begin(['start'])
    onTestFinished(() => void child.kill('SIGKILL'))
    let out = ''
    for await (const text of child.stdout ?? []) {
      out += text
      if (out.includes('Stop with Ctrl-C')) return child
    }
    throw new Error(`the daemon has not started: ${out}`)
  }
  const program = (name: string, script: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  program('systemctl', NO_MANAGER)
  writeFileSync(join(dataDir, 'last-backup'), JSON.stringify({ at: Date.now(), path: '/' }), {
    mode: 0o600,
  })
  return {
    ...{ folder, dataDir, database: join(dataDir, 'parley.db'), file, env, run, doctor, start, program },
    async report(...args) {
      const { code, out, err } = await doctor('--json', ...args)
      try {
        return { code, ...(JSON.parse(out) as DoctorReport) }
      } catch {
        throw new Error(`no report, but ${code}: ${out}${err}`)
      }
    },
    async once() {
      const child = await start()
      const ended = once(child, 'close')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Returns the finding of a check; its remedy is something to type or to click. */
export function found({ findings }: DoctorReport, part: string, check: string): Finding {
  const one = findings.find((finding) => finding.part === part && finding.check === check)
  if (one === undefined) expect.unreachable(`no ${part}/${check} in ${JSON.stringify(findings, null, 1)}`)
  return one
}

/** Expects that a check has failed, in such words, with such a remedy, and that the program said so by its exit code. */
export async function expectFailure(
  report: DoctorReport & { readonly code: number | null },
  [part, check]: readonly [part: string, check: string],
  {
    says,
    remedy,
    state = 'failed',
  }: { readonly says: RegExp; readonly remedy: RegExp; readonly state?: Finding['state'] },
): Promise<void> {
  const one = found(report, part, check)
  expect(one).toMatchObject({ state, says: expect.stringMatching(says), remedy: expect.stringMatching(remedy) })
  if (state === 'failed') expect(report.code).toBe(1)
}

/** Warnings that the machine of the test has, which are none of the set-up: an old Node, a small disk. */
const OF_THE_MACHINE = ['program/node', 'disk/space', 'memory/free']

export function troubles({ findings }: DoctorReport): readonly Finding[] {
  return findings.filter(
    ({ part, check, state }) =>
      (state === 'failed' || state === 'warning') && !OF_THE_MACHINE.includes(`${part}/${check}`),
  )
}
