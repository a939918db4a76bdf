import { EXIT } from '../core/errors.ts'
import { reportError } from './report-error.ts'

/**
 * Makes a command fail whose answer could not be written, as onto a full disk: whoever keeps the answer in a file would
 * take its beginning for the whole. A reader that has seen enough, as in `parley sessions list | head`, is no failure,
 * nor is a log on a full disk, nor what a daemon prints beside it.
 */
export function watchOutput({ stdout, stderr, env, argv }: NodeJS.Process): void {
  stderr.on('error', () => {})
  let cut: Error | undefined
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && argv[2] !== 'start') cut ??= error
  })
  process.once('exit', (code) => {
    if (cut === undefined || code !== EXIT.ok) return
    reportError({ stderr, env }, cut)
    process.exitCode = EXIT.failed
  })
}
