import { ColorSwatch, Group, Select } from '@mantine/core'
import { useBrand } from '../session/brand.ts'

const ALL = 'all'

/** Chooses the brand whose accounts every page shows. Without brands there is nothing to choose. */
export function BrandSwitch() {
  const { brand, brands, choose } = useBrand()
  if (brands.length === 0) return null
  const swatch = (color: string) => <ColorSwatch color={color} size={14} withShadow={false} aria-hidden />
  return (
    <Select
      aria-label="Brand"
      w={{ base: '100%', sm: 200 }}
      data={[{ value: ALL, label: 'All accounts' }, ...brands.map(({ id, name }) => ({ value: id, label: name }))]}
      value={brand?.id ?? ALL}
      onChange={(value) => choose(value === ALL ? null : value)}
      allowDeselect={false}
      searchable={brands.length > 8}
      leftSection={brand && swatch(brand.color)}
      renderOption={({ option }) => {
        const { color } = brands.find(({ id }) => id === option.value) ?? {}
        return (
          <Group gap={8} wrap="nowrap">
            {color && swatch(color)}
            {option.label}
          </Group>
        )
      }}
    />
  )
}
