/** The group of the tools of an operator's file, in the `tools` of an agent. */
export function ownGroup(file: string): string {
  return `own.${file}`
}
