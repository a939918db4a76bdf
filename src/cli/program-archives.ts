import { type Command, Option } from 'commander'
import { EXPORT_FORMATS } from '../core/export-format.ts'
import type { ExportOptions } from './commands/export.ts'
import type { CliPorts } from './ports.ts'
import { JSON_OPTION, nonBlank } from './program-parts.ts'
import type { ReadOptions } from './show.ts'

type Given = ReadOptions & Partial<Pick<ExportOptions, 'format' | 'out' | 'force'>> & { readonly bundle?: string }

/** Adds `parley export` and `parley import`. */
export function addArchives(program: Command, ports: CliPorts, ended: (exitCode: number) => void): void {
  program
    .command('export')
    .description('write a session to a file that you alone can read')
    .argument('<session>', 'its title in "sessions list", or its id, key, scope key or alias', nonBlank)
    .addOption(new Option('--format <format>', 'the form of the file; markdown without it').choices(EXPORT_FORMATS))
    .option('--out <file>', 'where to write it', nonBlank)
    .option(
      '--bundle <file>',
      'write what "parley import" takes on another machine, with files and a checksum',
      nonBlank,
    )
    .option('--force', 'replace a file that is there')
    .option(...JSON_OPTION)
    .action(async (name: string, _options, command: Command) => {
      const { format, out, bundle, ...given } = command.optsWithGlobals<Given>()
      if (bundle !== undefined && (format !== undefined || out !== undefined))
        command.error('error: --bundle names its file and has one form; leave --format and --out out')
      const [path, form] = bundle === undefined ? [out, format ?? 'markdown'] : [bundle, 'bundle' as const]
      if (path === undefined) return command.error('error: name the file with --out or --bundle')
      const { exportSession } = await import('./commands/export.ts')
      ended(await exportSession(ports, name, { ...given, format: form, out: path }))
    })
  program
    .command('import')
    .description('import a bundle, or the conversations of PicoClaw, OpenClaw or Molf; stop the daemon first')
    .argument('<from>', "the file that --bundle wrote, or the older program's folder", nonBlank)
    .option('--dry-run', 'say what would be imported, and keep nothing of it')
    .option(...JSON_OPTION)
    .action(async (from: string, _options, command: Command) => {
      const { importFrom } = await import('./commands/import.ts')
      ended(await importFrom(ports, from, command.optsWithGlobals()))
    })
}
