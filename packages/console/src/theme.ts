import { createTheme, type MantineColorsTuple } from '@mantine/core'

const ink: MantineColorsTuple = [
  '#eef0fc',
  '#dadef5',
  '#b2b9e8',
  '#8893dc',
  '#6473d1',
  '#4d5fcb',
  '#4355c7',
  '#3446b0',
  '#2c3e9e',
  '#22348b',
]

/** Fonts of the system: the page loads nothing from other hosts. */
const SYSTEM_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'

export const theme = createTheme({
  colors: { ink },
  primaryColor: 'ink',
  primaryShade: { light: 6, dark: 5 },
  defaultRadius: 'md',
  fontFamily: SYSTEM_FONT,
  headings: { fontFamily: SYSTEM_FONT, fontWeight: '650' },
  cursorType: 'pointer',
  autoContrast: true,
})
