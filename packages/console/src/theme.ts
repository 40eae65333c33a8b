import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

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
  components: {
    // The picture of a user without one has no background.
    Avatar: {
      styles: { image: { background: 'light-dark(var(--mantine-color-gray-2), var(--mantine-color-dark-5))' } },
    },
    Modal: { styles: { title: { fontWeight: 650 } } },
    // Their buttons have only a cross.
    ModalCloseButton: { defaultProps: { 'aria-label': 'Close' } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
  },
})

/** Darker than Mantine's own on their light backgrounds: small text needs a contrast of 4.5. */
const TEXT_ON_LIGHT = {
  teal: '#05603f',
  orange: '#8f3600',
  red: '#a51d1d',
  yellow: '#704700',
  cyan: '#0a5463',
  gray: '#343a40',
}

/** Darker than Mantine's own, for white text. */
const UNDER_WHITE_TEXT = { '--mantine-color-red-filled': '#c42020', '--mantine-color-red-filled-hover': '#a51d1d' }

/** The shades of a heat map, from less to more. */
const heat = (...shades: number[]) =>
  Object.fromEntries(shades.map((shade, index) => [`--heat-${index + 1}`, ink[shade]!]))

export const cssVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-body': colors.gray[0],
    '--mantine-color-dimmed': '#565d64',
    '--mantine-color-placeholder': '#6b7279',
    '--mantine-color-error': '#c42020',
    '--mantine-color-red-text': '#c42020',
    ...UNDER_WHITE_TEXT,
    '--surface': 'var(--mantine-color-white)',
    '--over': colors.gray[1],
    ...heat(2, 3, 5, 7),
    ...Object.fromEntries(
      Object.entries(TEXT_ON_LIGHT).map(([name, color]) => [`--mantine-color-${name}-light-color`, color]),
    ),
  },
  dark: {
    '--mantine-color-body': colors.dark[8],
    '--mantine-color-dimmed': '#a3a6ab',
    '--mantine-color-placeholder': '#92969c',
    '--mantine-color-anchor': colors['ink']![3],
    '--mantine-color-error': colors.red[4],
    '--mantine-color-red-text': colors.red[4],
    ...UNDER_WHITE_TEXT,
    '--surface': colors.dark[7],
    '--over': colors.dark[8],
    // More is brighter on dark pages.
    ...heat(8, 6, 4, 2),
  },
})
