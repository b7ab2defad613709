package kernel

// Sited reports whether the places of calls are kept; see [Siter].
func (k *Kernel) Sited() bool { return k.config.Activities && k.config.sited() }

// HandSite stores the place of the call that the running LP hands to the engine to be submitted.
func (k *Kernel) HandSite(s Site) { k.hearing.handed = s }

// nameSites has the summary of the engine's ranks know the places of calls by their texts.
func (k *Kernel) nameSites() {
	if k.hearing.siter != nil {
		k.partition.Summary.Calls.NameSites(k.hearing.siter.SiteText)
	}
}
