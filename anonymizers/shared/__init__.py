"""What several anonymizers share: distances, cuts, constraints, growing classes, centroids, averages, slices, aliases."""
